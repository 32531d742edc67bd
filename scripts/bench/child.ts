// Run in a process of its own: imports one bundle, calls its handler once where there is an event,
// and prints both times.

const [bundle = '', event] = process.argv.slice(2)
const started = performance.now()
const { handler } = await import(bundle)
const imported = performance.now()
if (event !== undefined) {
  const response = await handler(JSON.parse(event), { awsRequestId: 'bench' })
  if (response.statusCode !== 200) throw new Error(JSON.stringify(response))
}
const answered = performance.now()
process.stdout.write(
  JSON.stringify({
    importMs: imported - started,
    callMs: event === undefined ? null : answered - imported,
  }),
)
process.exit(0)
