import * as z from 'zod'
import { notFound } from '../../lib/core/errors.ts'
import { serve } from '../../lib/http/serve.ts'
import { defineTool } from '../../lib/tool/define.ts'
import { setting } from '../../lib/tool/setting.ts'

export const tool = defineTool({
  name: 'user_info',
  description: 'Tells who you work for, and what they want you to know about them.',
  displayName: 'User info',
  category: 'general',
  icon: 'user',
  settings: {
    preferred_name: setting.text({
      label: 'What to be called',
      scope: 'principal',
    }),
    language: setting.text({
      label: 'Language',
      description: 'The language to answer in, such as German or de.',
    }),
    time_zone: setting.text({
      label: 'Time zone',
      description: 'An IANA name, such as Europe/Berlin.',
    }),
    about: setting.textarea({
      label: 'What agents should know',
      description: 'Whatever helps an agent to work for you: what you do, how you like answers.',
      scope: 'principal',
    }),
  },
  operations: {
    get: {
      description:
        'The user or the group that you work for: name, how to call them, language, time zone and ' +
        'what they say about themselves, as far as they have said so.',
      parameters: z.object({}),
      effect: 'read',
      describe: () => 'Look up who the agent works for',
      execute: async ({ principal: { id }, settings }) => {
        const { findPrincipal } = await import('../../lib/principal/principal.ts')
        const owner = await findPrincipal(id)
        if (!owner) throw notFound('owner', id)
        // The row holds more, such as a role; a model is told what is named here and nothing else.
        return {
          kind: id.startsWith('group_') ? 'group' : 'user',
          name: owner.name,
          ...settings,
        }
      },
    },
  },
})

export const handler = serve(tool)
