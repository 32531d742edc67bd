import * as z from 'zod'
import { appOf } from '../../lib/http/app.ts'
import { endpoint } from '../../lib/http/endpoint.ts'
import { EVENT_STREAM, streamResponse } from '../../lib/http/event-stream.ts'
import { followTask } from '../../lib/http/follow-task.ts'
import { credentialOf } from '../../lib/http/session.ts'
import { decodeStreamPlace } from '../../lib/http/stream-place.ts'
import { streamingHandlerOf } from '../../lib/http/streaming-handler.ts'
import { readableTask } from '../../lib/http/task-access.ts'
import { authenticate } from '../../lib/principal/caller.ts'
import { TERMINAL } from '../../lib/task/task.ts'
import { leaveSeats, takeSeats } from '../../lib/task/watcher.ts'
import { START } from '../../lib/workflow/watch.ts'
import { tools } from '../tools/index.ts'

const StreamQuery = z.object({
  after: z
    .string()
    .optional()
    .describe('The id of the last message, for who can’t send it as Last-Event-ID.'),
})

export const endpoints = {
  followTask: endpoint(
    {
      method: 'GET',
      path: '/api/v1/tasks/{id}/stream',
      tag: 'Tasks',
      summary: 'Follow a task as it goes on',
      description:
        'Server-sent events: `task`, `history`, `tool_call` and `event` with what the other routes show of each, and `end`. A message’s id is a place: sent as Last-Event-ID, the stream goes on from there. A stream ends after a minute.',
      access: readableTask,
      query: StreamQuery,
      responses: {
        200: { description: 'Messages, until the minute is over.', types: [EVENT_STREAM] },
        204: { description: 'The task has ended, and all of it was sent: come back no more.' },
      },
    },
    async ({ context, caller, params, subject: task, query }) => {
      const last = context.req.header('last-event-id') || query.after
      const { place, isEnd } = last ? decodeStreamPlace(last) : { place: START, isEnd: false }
      if (isEnd && TERMINAL.includes(task.status) && task.eventSeq === place.event)
        return new Response(null, { status: 204 })
      const seats = await takeSeats({ taskId: task.id, principalId: caller.principalId })
      const credential = credentialOf(context)
      return streamResponse(
        signal =>
          followTask({
            taskId: task.id,
            from: place,
            tools,
            recheck: async () =>
              readableTask.find({ caller: await authenticate(credential), params }),
            signal,
          }),
        () => leaveSeats(seats),
      )
    },
  ),
}

export const handler = streamingHandlerOf(appOf(endpoints))
