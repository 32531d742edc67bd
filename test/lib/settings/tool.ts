import * as z from 'zod'
import { defineTool } from '../../../lib/tool/define.ts'
import { setting } from '../../../lib/tool/setting.ts'

/** A tool with a setting of each kind, for the tests of this room. */
export const tool = defineTool({
  name: 'mail',
  description: 'Sends mail.',
  settings: {
    sender: setting.text({ label: 'Sender', default: 'nobody@example.com', exposeToLlm: true }),
    signature: setting.textarea({ label: 'Signature', exposeToLlm: true }),
    token: setting.password({ label: 'Token', required: true }),
    limit: setting.number({ label: 'Limit' }),
    format: setting.select({ label: 'Format', options: ['html', 'text'] }),
    folders: setting.multiSelect({
      label: 'Folders',
      options: ['in', 'out'],
      exposeToLlm: true,
    }),
    urgent: setting.toggle({ label: 'Urgent', default: false }),
    quota: setting.number({ label: 'Quota', scope: 'principal' }),
    mailbox: setting.text({ label: 'Mailbox', scope: 'agent' }),
  },
  operations: {
    send: {
      description: 'Sends a mail.',
      parameters: z.object({}),
      describe: () => 'Send a mail',
      execute: () => undefined,
    },
  },
})
