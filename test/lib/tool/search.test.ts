import { expect, test } from 'vitest'
import * as z from 'zod'
import { defineTool } from '../../../lib/tool/define.ts'
import { searchOperations } from '../../../lib/tool/search.ts'

const operation = (description: string, parameters = z.object({})) => ({
  description,
  parameters,
  describe: () => description,
  execute: () => 'done',
})

const tools = [
  defineTool({
    name: 'tracker',
    description: 'Issues and pull requests of a code host.',
    operations: {
      create_issue: operation('Open a new issue.', z.object({ title: z.string() })),
      list_issues: operation('List issues, newest first.'),
      merge_pull_request: operation('Merge a pull request.'),
    },
  }),
  defineTool({
    name: 'mail',
    description: 'Sends and reads mail.',
    operations: {
      send: operation(
        'Send a mail.',
        z.object({ recipient: z.string().describe('Whom to write.') }),
      ),
      search: operation('Search the mailbox.'),
    },
  }),
  defineTool({
    name: 'wetter',
    description: 'Das Wetter für Orte.',
    operations: { vorhersage: operation('Die Vorhersage für morgen, auch für Zürich.') },
  }),
].map(tool => ({ tool, enabled: Object.values(tool.operations) }))

const find = async (query: string, limit = 3) =>
  (await searchOperations(tools, query, limit)).map(
    ({ tool, operation }) => `${tool.name}.${operation.name}`,
  )

test.each([
  ['open an issue', 'tracker.create_issue'],
  ['createIssue', 'tracker.create_issue'],
  ['merge pull request', 'tracker.merge_pull_request'],
  ['write to a recipient', 'mail.send'],
  ['search mailbox', 'mail.search'],
  ['mrege a pull reqest', 'tracker.merge_pull_request'],
  ['mailb', 'mail.search'],
  ['Vorhersage zürich', 'wetter.vorhersage'],
])('“%s” finds %s first', async (query, first) => {
  expect((await find(query))[0]).toBe(first)
})

test('no more is found than is asked for, and nothing where no word fits', async () => {
  expect(await find('issue', 1)).toHaveLength(1)
  expect(await find('xylophone')).toEqual([])
  expect(await find('!!! ???')).toEqual([])
})

test('only what is enabled is found', async () => {
  const [tracker] = tools
  const enabled = tracker?.enabled.filter(({ name }) => name !== 'create_issue') ?? []
  const found = await searchOperations([{ tool: tracker?.tool as never, enabled }], 'issue', 5)
  expect(found.map(({ operation }) => operation.name)).not.toContain('create_issue')
})
