import { costTables } from './costs/tables.ts'

// `npm run costs`: what an installation costs while idle, and what tasks cost, worked out from
// requests that a test counts and from AWS's public lists. docs/deploying.md has the same tables.

process.stdout.write(`${costTables()}\n`)
