/** What a function's start may read, and what its whole bundle may be, in KiB. */
export type Budget = { startKiB: number; wholeKiB: number }

/** Any function, unless it is named below. */
export const USUAL_BUDGET: Budget = { startKiB: 300, wholeKiB: 350 }

/** Those that hold more, and what of it: none of that is read before it is used. */
export const BUDGETS: Record<string, Budget & { because: string }> = {
  'tools/agent': { startKiB: 150, wholeKiB: 440, because: 'it changes agents and settings' },
  'tools/calculator': { startKiB: 150, wholeKiB: 1_200, because: 'mathjs' },
  'tools/media': { startKiB: 150, wholeKiB: 380, because: 'it stores files, and tells their kind' },
  'tools/read-url': { startKiB: 150, wholeKiB: 2_600, because: 'PDF, a DOM and Readability' },
  'tools/sub-agent': { startKiB: 150, wholeKiB: 390, because: 'it starts tasks' },
  'tools/subagents': { startKiB: 150, wholeKiB: 410, because: 'it starts, reads and ends tasks' },
  'tools/time': { startKiB: 150, wholeKiB: 440, because: 'Temporal, which Node 24 lacks' },
  'admin/llm-configurations': {
    startKiB: 300,
    wholeKiB: 1_150,
    because: 'the drivers of all providers: it tries a model',
  },
  'admin/openapi': { startKiB: 160, wholeKiB: 500, because: 'the document itself' },
  'workflow/tick': { startKiB: 310, wholeKiB: 1_250, because: 'the drivers of all providers' },
}

export const budgetOf = (module: string): Budget => BUDGETS[module] ?? USUAL_BUDGET
