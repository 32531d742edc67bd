// Run in a process of its own: imports one bundle, calls its handler once where there is an event,
// and prints both times.

const [bundle = '', event, functionName = 'bench'] = process.argv.slice(2)
const started = performance.now()
const { handler } = await import(bundle)
const imported = performance.now()
if (event !== undefined) {
  const response = await handler(JSON.parse(event), {
    awsRequestId: 'bench',
    functionName,
    getRemainingTimeInMillis: () => 900_000,
  })
  // What is no request of HTTP's answers without a status.
  if ((response?.statusCode ?? 200) !== 200) throw new Error(JSON.stringify(response))
}
const answered = performance.now()
process.stdout.write(
  JSON.stringify({
    importMs: imported - started,
    callMs: event === undefined ? null : answered - imported,
  }),
)
process.exit(0)
