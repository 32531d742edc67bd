// Run in a process of its own: imports one bundle, calls its handler once, and prints both times.

const [bundle = '', event = '{}'] = process.argv.slice(2)
const started = performance.now()
const { handler } = await import(bundle)
const imported = performance.now()
const response = await handler(JSON.parse(event), { awsRequestId: 'bench' })
const answered = performance.now()
if (response.statusCode !== 200) throw new Error(JSON.stringify(response))
process.stdout.write(JSON.stringify({ importMs: imported - started, callMs: answered - imported }))
process.exit(0)
