import type { LanguageModelV4CallOptions } from '@ai-sdk/provider'
import type { Answer, ScriptLine } from './rehearsal-script.ts'
import { exampleLine, titleOf, toolNames } from './rehearsal-tools.ts'

/** How much of each result the closing text shows, in characters. */
export const REHEARSAL_RESULT_CHARS = 500

/** Every text of a rehearsal begins with it: nobody may take it for a model's. */
export const BANNER = 'This is a rehearsal: no model was asked.'

/** What is said where nothing is scripted. */
export const introduction = (tools: LanguageModelV4CallOptions['tools']): string =>
  [
    `${BANNER} It calls the tools that a message scripts, and tells what came back.`,
    'A line of a script is a tool, an operation and its arguments as JSON:',
    exampleLine(tools),
    'Lines that stand together are called in one step; an empty line begins the next. In the arguments {{1.id}} stands for the value at "id" in the result of call 1, and {{1}} for all of it.',
    toolNames(tools).length > 0
      ? `On offer here: ${toolNames(tools).join(', ')}.`
      : 'No tools are on offer here.',
  ].join('\n\n')

/** What is told of a script: each call of the script with what came back, cut to a length. */
export const summary = (lines: ScriptLine[], answers: (Answer | undefined)[]): string =>
  [
    `What came back of the ${lines.length === 1 ? 'call' : `${lines.length} calls`} in the script:`,
    ...lines.map((line, index) => {
      const answer = answers[index]
      if (!answer) return `${index + 1}. ${titleOf(line)}: not called`
      return `${index + 1}. ${titleOf(line)}${answer.isError ? ' (error)' : ''}: ${cut(answer.text)}`
    }),
  ].join('\n')

const cut = (value: string): string =>
  value.length <= REHEARSAL_RESULT_CHARS ? value : `${value.slice(0, REHEARSAL_RESULT_CHARS)}…`
