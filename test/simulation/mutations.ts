/** A change that breaks a promise on purpose, to see whether the simulation notices. */
export type Mutation = { file: string; from: string; to: string }

/** Each by its name; `from` stands in its file once. */
export const MUTATIONS: Record<string, Mutation> = {
  'no-fence': {
    file: 'lib/workflow/lease.ts',
    from: '  fence: task.fence,\n  generation: task.generation,\n',
    to: '  generation: task.generation,\n',
  },
  'send-without-raising': {
    file: 'lib/workflow/wake.ts',
    from: `  const outcome = await table.update(Task, taskKey(taskId), wakeChange(taskId, clock), {
    where: { status: is.oneOf(OPEN) },
  })
  if (outcome.ok) await deliver(outcome.item, clock)
`,
    to: '  await deliverTo(taskId, clock)\n',
  },
  'keep-the-marker': {
    file: 'lib/workflow/end.ts',
    from: 'also: [...markersOf(task).map(({ key }) => ({ remove: key })), ...notices],',
    to: 'also: notices,',
  },
  'park-whatever-came': {
    file: 'lib/workflow/park.ts',
    from: 'generation, wakeSeq, fence, status',
    to: 'generation, status',
  },
  'start-without-started': {
    file: 'lib/call/stored.ts',
    from: '  if (!started.ok) return started.item ?? call\n',
    to: '  if (!started.ok) return run(call, admission, clock)\n',
  },
  'decide-by-late-reads': {
    file: 'lib/data/table.ts',
    from: 'ConsistentRead: options.index === undefined,',
    to: 'ConsistentRead: false,',
  },
  'send-back-what-broke': {
    file: 'lib/llm/prompt.ts',
    from: "part.state === 'complete' ? (parseObject(part.input) ?? {}) : {}",
    to: 'parseObject(part.input) ?? part.input',
  },
  'ask-nobody': {
    file: 'lib/call/propose.ts',
    from: "status: requiresApproval ? 'PENDING_APPROVAL' : 'REQUESTED',\n",
    to: "status: 'REQUESTED',\n",
  },
  'book-again': {
    file: 'lib/task/ledger.ts',
    from: '{ where: { [mark]: is.present } }',
    to: '{}',
  },
}
