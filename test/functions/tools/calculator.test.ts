import fc from 'fast-check'
import { beforeAll, expect, test } from 'vitest'
import { tool } from '../../../functions/tools/calculator.ts'
import { run } from './run.ts'

const calculate = (expression: string) => run(tool, 'calculate', { expression })

// Loading the library is not what these tests measure.
beforeAll(() => calculate('1'))

test.each([
  ['0.1 + 0.2', '0.3'],
  ['2^100', '1267650600228229401496703205376'],
  ['1 / 3', '0.3333333333333333333333333333333333333333'],
  ['sqrt(2)^2', '2'],
  ['-2^2', '-4'],
  ['20% * 80', '16'],
  ['100 + 20%', '120'],
  ['10!', '3628800'],
  ['mod(-7, 3)', '2'],
  ['round(2.567, 2)', '2.57'],
  ['combinations(49, 6)', '13983816'],
  ['ln(e)', '1'],
  ['mean([1, 2, 3, 4])', '2.5'],
  ['max(3, 9, 4)', '9'],
  ['5 inch to cm', '12.7 cm'],
  ['25 degC to degF', '77 degF'],
  ['sin(90 deg)', '1'],
  ['[[1, 2], [3, 4]] * [[0, 1], [1, 0]]', '[[2, 1], [4, 3]]'],
  ['sqrt(-4)', '2i'],
  ['2^100 > 10^30', 'true'],
  ['449!', '3.85193051802807257632158476912128755484e+997'],
])('%s is %s', async (expression, value) => {
  expect(await calculate(expression)).toBe(value)
})

test.each([
  'import({a: 1})',
  'createUnit("x")',
  'evaluate("1")',
  'parse("1")',
  'simplify("x + x")',
  'derivative("x^2", "x")',
  'config({})',
  'x = 1',
  'f(x) = x',
  '1; 2',
  '"text"',
  '{a: 1}',
  '[1, 2][1]',
  'pi.constructor',
  'cos["constructor"]("return 1")()',
  'constructor',
  'constructor("return process")',
  'toString()',
  '__proto__',
  'hasOwnProperty("x")',
  'sin.call(1)',
  'null',
])('%s is refused', async expression => {
  await expect(calculate(expression)).rejects.toMatchObject({
    code: 'VALIDATION_ERROR',
    message: expect.stringMatching(/^This can't be calculated: /),
  })
})

test.each([
  ['450!', 'factorial takes numbers up to 449 only'],
  ['9^9^9^9', 'beyond 10^±1000'],
  ['1e5000', 'beyond 10^±1000'],
  ['1e-5000', 'beyond 10^±1000'],
  ['exp(1e9)', 'exp takes numbers up to 2302 only'],
  ['tanh(1e900)', 'tanh takes numbers up to 2302 only'],
  ['sin(1e999)', 'sin takes numbers up to 1e+100 only'],
  ['combinations(1e9, 2)', 'combinations takes numbers up to 10000 only'],
  ['[[1, 1], [1, 0]]^1e9', 'pow takes numbers up to 100 only'],
  ['atan2([1, 2], 3)', 'atan2 takes no list'],
  ['zeros(1e6, 1e6)', 'there is no function "zeros"'],
  ['1:1e9', 'and nothing else'],
  [`[${'[1],'.repeat(120)}[1]] * [[${'1,'.repeat(120)}1]]`, 'lists have 400 items at most'],
  [`${'('.repeat(490)}1${')'.repeat(490)}`, 'nested too deeply'],
  ['1 / 0', 'infinite'],
  ['0 / 0', 'has no value'],
  ['2 kg + 3 m', 'Units do not match'],
  ['1 +', 'Unexpected end of expression'],
])('%s fails at once, and says why', async (expression, reason) => {
  const start = performance.now()
  await expect(calculate(expression)).rejects.toThrow(reason)
  expect(performance.now() - start).toBeLessThan(1_000)
})

test('a failure in the middle of an operation spoils no later result', async () => {
  const roots = ['nthRoot(2, 0)', 'round(1.5, 1e9)', 'gcd(1.5, 2)', 'atanh(1)', 'sin(1e999)']
  for (const expression of roots) await calculate(expression).catch(() => undefined)
  expect(await calculate('round(2.567, 2)')).toBe('2.57')
  expect(await calculate('2 / 3')).toBe(`0.${'6'.repeat(39)}7`)
})

test('an expression of the most characters is calculated, and a longer one is not read', async () => {
  const longest = `${'1+'.repeat(499)}11`
  expect(longest).toHaveLength(1_000)
  expect(await calculate(longest)).toBe('510')
  await expect(calculate(`${longest}1`)).rejects.toThrow('1000')
})

test('whatever is typed ends soon, in a text or in a sentence', async () => {
  const token = fc.constantFrom(
    ...['1', '2.5', '1e900', '9', 'e', 'i', 'cm', '+', '*', '/', '^', '!', '%', '(', ')', '[', ']'],
    ...[
      'sin(',
      'exp(',
      'gcd(',
      'permutations(',
      'nthRoot(',
      'asinh(',
      'cosh(',
      'log(',
      ',',
      ' to ',
    ],
  )
  const expression = fc.array(token, { minLength: 1, maxLength: 12 }).map(parts => parts.join(''))
  await fc.assert(
    fc.asyncProperty(expression, async text => {
      const start = performance.now()
      const outcome = await calculate(text).catch((error: unknown) => error)
      if (typeof outcome !== 'string') expect(outcome).toMatchObject({ code: 'VALIDATION_ERROR' })
      expect(performance.now() - start).toBeLessThan(2_000)
    }),
    { numRuns: 500 },
  )
})

test('the calculator reads, and says what it will calculate', () => {
  expect(tool.operations.calculate?.effect).toBe('read')
  expect(tool.operations.calculate?.describe({ expression: '1 + 1' })).toBe('Calculate 1 + 1')
})
