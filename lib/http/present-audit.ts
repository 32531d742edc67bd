import * as z from 'zod'
import type { AuditEntry } from '../audit/audit.ts'
import { idOf } from '../core/ids.ts'
import { Time } from './wire.ts'

export const AuditView = z
  .object({
    id: idOf('audit'),
    at: Time,
    by: z
      .string()
      .describe('Who did it: the id of a user, of an agent, or of what did it by itself.'),
    key_id: z.string().nullable().describe('With which key, or in which session.'),
    action: z.string().describe('Noun and verb, such as `setting-changed`.'),
    target: z.string().describe('What was changed: the id of an agent or a principal, or another.'),
    field: z.string().nullable().describe('What of it, such as `time.timezone`.'),
    from: z.json().optional().describe('Absent where there was nothing. A secret reads ***.'),
    to: z.json().optional().describe('Absent where there is nothing any more.'),
  })
  .meta({ id: 'AuditEntry' })
export type AuditView = z.infer<typeof AuditView>

/** An entry of an audit log on the wire. */
export const presentEntry = ({ keyId, field, from, to, ...entry }: AuditEntry): AuditView => ({
  ...entry,
  key_id: keyId ?? null,
  field: field ?? null,
  ...(from === undefined ? {} : { from }),
  ...(to === undefined ? {} : { to }),
})
