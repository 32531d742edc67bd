import { dynamodb } from '../../../lib/aws/dynamodb.ts'

/** The next answer is thrown away, as a broken connection would do, and the SDK tries again. */
export const loseNextAnswer = () => {
  let lost = false
  dynamodb().middlewareStack.add(
    next => async arguments_ => {
      const answer = await next(arguments_).catch((error: unknown) => {
        if (lost) throw error
        return undefined
      })
      if (lost && answer) return answer
      lost = true
      throw Object.assign(new Error('socket hang up'), { name: 'TimeoutError' })
    },
    { step: 'finalizeRequest', priority: 'low', name: 'lost-answer' },
  )
}
