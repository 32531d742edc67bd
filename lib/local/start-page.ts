import { Hono } from 'hono'
import { html, raw } from 'hono/html'
import type { RouteTable } from '../http/route-table.ts'
import type { Tool } from '../tool/define.ts'
import type { Costs } from './stack.ts'

/** What the page tells of the runner at this moment. */
export type Status = {
  url: string
  dataDirectory: string
  running: number
  waiting: number
  costs: Costs
}

/** The local runner's page at `/`: what runs, which tools there are, and what to try first. */
export const createStartPage = ({
  tools,
  table,
  status,
}: {
  tools: Tool[]
  table: RouteTable
  status: () => Status | undefined
}) =>
  new Hono().get('/', context => {
    const now = status()
    if (!now) return context.text('Starting…', 503)
    context.header('content-security-policy', "default-src 'none'; style-src 'unsafe-inline'")
    context.header('cache-control', 'no-store')
    return context.html(page({ tools, table, now }))
  })

const page = ({
  tools,
  table,
  now,
}: {
  tools: Tool[]
  table: RouteTable
  now: Status
}) => html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Espalier</title>
<style>${raw(STYLE)}</style>
</head>
<body>
<main>
<h1>Espalier</h1>
<p class="lead">The whole platform runs on this machine: ${table.functions.length} functions behind
${table.routes.length} routes, on embedded DynamoDB, S3 and Step Functions. All that can be asked of
them: <a href="/docs">the reference</a>.</p>

<h2>Try it</h2>
<p>With the key that was printed at the first start, or the one in <code>ESPALIER_ADMIN_KEY</code>:</p>
${commands(now.url).map(
  ({ title, command }) => html`<h3>${title}</h3><pre tabindex="0">${command}</pre>`,
)}
<p>This agent rehearses: it asks no model and makes exactly the calls that the prompt’s lines spell
out. For a real one, start with its key in the environment (<code>OPENAI_API_KEY</code>, …) and name
it in the agent’s <code>model</code>.</p>

<h2>Tools</h2>
${tools.map(toolCard)}

<h2>Right now</h2>
<dl>
<dt>API</dt><dd>${now.url}/api/v1</dd>
<dt>Data</dt><dd>${now.dataDirectory}</dd>
<dt>Functions running</dt><dd>${now.running}</dd>
<dt>Executions waiting at no cost</dt><dd>${now.waiting}</dd>
<dt>State transitions since the start</dt><dd>${now.costs.stateTransitions}</dd>
<dt>DynamoDB units since the start</dt>
<dd>${now.costs.dynamodb.readUnits} read, ${now.costs.dynamodb.writeUnits} written</dd>
<dt>S3 requests since the start</dt><dd>${now.costs.s3Requests}</dd>
</dl>
</main>
</body>
</html>`

const toolCard = (tool: Tool) => html`<section>
<h3>${tool.displayName} <code>${tool.name}</code></h3>
<p>${tool.description}</p>
<ul>${Object.values(tool.operations).map(
  operation => html`<li><code>${operation.name}</code> ${operation.description}
${operation.requiresApprovalByDefault ? html`<mark>asks first</mark>` : ''}</li>`,
)}</ul>
</section>`

/** The first three things to do, as they can be pasted into a shell. */
export const commands = (url: string) => [
  {
    title: '1. Make an agent',
    command: `export KEY=…   # paste the key here
AGENT=$(curl -s ${url}/api/v1/agents \\
  -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' \\
  -d '{"name": "Ada", "model": {"provider": "rehearsal", "name": "script"}}' \\
  | grep -o 'agent_[0-9A-Z]*' | head -1); echo $AGENT`,
  },
  {
    title: '2. Let it use a tool',
    command: `curl -s -X POST -H "Authorization: Bearer $KEY" \\
  ${url}/api/v1/agents/$AGENT/tools/time/enable`,
  },
  {
    title: '3. Give it a task, and read what came of it',
    command: `TASK=$(curl -s ${url}/api/v1/tasks \\
  -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' \\
  -d '{"agent_id": "'$AGENT'", "prompt": "/time now {}"}' \\
  | grep -o 'task_[0-9A-Z]*' | head -1); sleep 1
curl -s -H "Authorization: Bearer $KEY" ${url}/api/v1/tasks/$TASK`,
  },
]

const STYLE = `
:root { color-scheme: light dark; --line: #8884; --soft: #8881; --accent: #2f7d4f; }
body { margin: 0; font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 46rem; margin: 0 auto; padding: 2rem 1.25rem 4rem; }
h1 { font-size: 2rem; margin: 0; color: var(--accent); }
h2 { margin: 2.5rem 0 .5rem; font-size: 1.25rem; }
h3 { margin: 1.25rem 0 .25rem; font-size: 1rem; }
.lead { font-size: 1.1rem; }
pre { background: var(--soft); border: 1px solid var(--line); border-radius: .5rem; padding: .75rem 1rem; overflow-x: auto; font-size: .85rem; }
code { font-size: .9em; }
section { border: 1px solid var(--line); border-radius: .5rem; padding: .25rem 1rem .5rem; margin: .75rem 0; }
section h3 { margin-top: .5rem; } section p { margin: .25rem 0; } ul { margin: .25rem 0; padding-left: 1.25rem; }
mark { background: #e9b94955; color: inherit; border-radius: .25rem; padding: 0 .35rem; font-size: .8rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .25rem 1.5rem; } dd { margin: 0; overflow-wrap: anywhere; }
@media (max-width: 34rem) { dl { grid-template-columns: 1fr; } dd { margin-bottom: .5rem; } }
`
