import { unmarshall } from '@aws-sdk/util-dynamodb'
import type * as z from 'zod'
import { Agent } from '../../lib/agent/agent.ts'
import { Remains } from '../../lib/agent/delete-agent.ts'
import { AuditEntry } from '../../lib/audit/audit.ts'
import { Decision } from '../../lib/call/decision.ts'
import { ToolCall } from '../../lib/call/tool-call.ts'
import { kindOfRow } from '../../lib/data/versions.ts'
import { LlmConfiguration } from '../../lib/llm/configuration.ts'
import { Asset } from '../../lib/media/asset.ts'
import { Delivery } from '../../lib/notification/delivery.ts'
import { Subscription } from '../../lib/notification/subscription.ts'
import { Group, GroupRemains, Member } from '../../lib/principal/group.ts'
import { Identity } from '../../lib/principal/identity.ts'
import { Invitation } from '../../lib/principal/invitation.ts'
import { ApiKey } from '../../lib/principal/key.ts'
import { KeyUse } from '../../lib/principal/key-use.ts'
import { User } from '../../lib/principal/principal.ts'
import { Session } from '../../lib/principal/session.ts'
import { TaskEvent } from '../../lib/task/event.ts'
import { HistoryRow, SummaryRow } from '../../lib/task/history.ts'
import { Ledger } from '../../lib/task/ledger.ts'
import { Marker } from '../../lib/task/open-children.ts'
import { Part, TaskRemains } from '../../lib/task/remains.ts'
import { Task } from '../../lib/task/task.ts'
import type { Row } from './recording.ts'

/** The schema of each kind of row, by what `kindOfRow` calls it. */
export const SCHEMAS: Record<string, z.ZodType> = {
  'agent/agent': Agent,
  'agent/remains': Remains,
  audit: AuditEntry,
  call: ToolCall,
  decision: Decision,
  delivery: Delivery,
  'group/member': Member,
  'group/principal': Group,
  'group/remains': GroupRemains,
  identity: Identity,
  invitation: Invitation,
  key: ApiKey,
  ledger: Ledger,
  llm: LlmConfiguration,
  media: Asset,
  open: Marker,
  seen: KeyUse,
  session: Session,
  subscription: Subscription,
  'task/event': TaskEvent,
  'task/history': HistoryRow,
  'task/history#!': SummaryRow,
  'task/part': Part,
  'task/remains': TaskRemains,
  'task/task': Task,
  user: User,
}

/** Kinds whose schemas their rooms keep to themselves: what a reader of each makes of it is tested. */
export const READ_BY_THEIR_ROOMS = [
  'agent/tool',
  'claim',
  'instance',
  'listeners',
  'notes/note',
  'notes/notebook',
  'rate',
  'settings',
  'slots/slot',
  'slots/waiting',
  'waiters',
  'watchers',
]

/** What a row has beside its own fields: keys, places in indexes, its end, marks of its writers. */
const BESIDE = /^(?:pk|sk|gsi\dpk|gsi\dsk|ttl|insertedBy|claim|rowVersion)$/

/** What a schema makes nothing of, or can't read, in a row that was written earlier. */
export const problemsIn = (schema: z.ZodType, row: Row): string[] => {
  const item = unmarshall(row)
  const parsed = schema.safeParse(item)
  if (!parsed.success) return parsed.error.issues.map(({ path }) => path.join('.'))
  const known = Object.keys(parsed.data as object)
  return Object.keys(item).filter(name => !BESIDE.test(name) && !known.includes(name))
}

export const kindOf = (row: Row): string => kindOfRow({ pk: row.pk?.S ?? '', sk: row.sk?.S ?? '' })
