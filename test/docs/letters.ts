import * as z from 'zod'
import { serve } from '../../lib/http/serve.ts'
import { defineTool } from '../../lib/tool/define.ts'
import { setting } from '../../lib/tool/setting.ts'

export const tool = defineTool({
  name: 'letters',
  description: 'Sends letters.',
  settings: {
    sender: setting.text({ label: 'Sender', default: 'nobody', exposeToLlm: true }),
    signature: setting.textarea({ label: 'Signature' }),
    copies: setting.number({ label: 'Copies', default: 1 }),
    token: setting.password({ label: 'Token', required: true }),
    paper: setting.select({ label: 'Paper', options: ['white', 'ivory'], default: 'white' }),
    express: setting.toggle({ label: 'Express', default: false, scope: 'principal' }),
    readers: setting.multiSelect({
      label: 'Readers',
      scope: 'agent',
      resolveAs: 'agent',
      exposeToLlm: true,
      enumFor: 'reader',
    }),
  },
  operations: {
    send: {
      description: 'Send a letter.',
      parameters: z.object({ reader: z.string().describe('Who gets it.') }),
      effect: 'idempotent',
      describe: ({ reader }) => `Send a letter to ${reader}`,
      execute: ({ parameters: { reader }, settings: { copies, paper } }) =>
        `Sent ${copies} on ${paper} paper to ${reader}.`,
    },
  },
})

export const handler = serve(tool)
