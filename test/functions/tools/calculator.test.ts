import fc from 'fast-check'
import { beforeAll, expect, test } from 'vitest'
import { tool } from '../../../functions/tools/calculator.ts'
import { run } from './run.ts'

const calculate = (expression: string, how: { format?: string; decimals?: number } = {}) =>
  run(tool, 'calculate', { expression, ...how })

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
  ['1/3 * 3', '1'],
  ['2^1000 mod 7', '2'],
  ['1e-400 * 1e400', '1'],
  ['100!  / 98!', '9900'],
  ['15% of 80', '12'],
  ['80 - 25%', '60'],
  ['3 × 4 ÷ 2 − 1', '5'],
  ['5²', '25'],
  ['20 °C to °F', '68 degF'],
  ['sin(30°)', '0.5'],
  ['60 mph to kmh', '96.56064 kmh'],
  ['1 GiB to MB', '1073.741824 MB'],
  ['3 h + 25 min to min', '205 min'],
  ['round(-2.5)', '-3'],
  ['round(1234.5, -2)', '1200'],
  ['round(1/3, 4)', '0.3333'],
  ['0xff & 0b1010', '10'],
  [`0x${'f'.repeat(64)} + 1`, String(1n << 256n)],
  ['0b1.1 + 0o17', '16.5'],
  ['bitXor(5, 3)', '6'],
  ['1 << 70', '1180591620717411303424'],
  ['-9 >> 1', '-5'],
  ['~7', '-8'],
  ['combinations(300, 150) / combinations(300, 149)', '1.006666666666666666666666666666666666667'],
  ['permutations(5, 7)', '0'],
  ['median([3, 1, 2])', '2'],
  ['std([2, 4, 4, 4, 5, 5, 7, 9])', '2.138089935299395077476427847038028172432'],
  ['variance([1, 2, 5])', '4.333333333333333333333333333333333333333'],
  ['quantile([1, 2, 7], 0.25)', '1.5'],
  ['corr([1, 2, 3], [2, 4, 6])', '1'],
  ['cumsum([1, 2, 3])', '[1, 3, 6]'],
  ['mode([1, 2, 2])', '[2]'],
  ['inv([[1, 2], [3, 4]])', '[[-2, 1], [1.5, -0.5]]'],
  ['[[1, 1], [1, 0]]^50', '[[20365011074, 12586269025], [12586269025, 7778742049]]'],
  ['solve([[2, 1], [1, 3]], [3, 5])', '[[0.8], [1.4]]'],
  ['det([[1, 2], [3, 4]])', '-2'],
  ['(1 + 2i) * (3 - i)', '5 + 5i'],
  ['0.1i + 0.2i', '0.3i'],
  ['re(3 - 4i) + abs(3 - 4i)', '8'],
  ['arg(i)', '1.5707963267949'],
  ['2^200', '1606938044258990275541962092341162602522202993782792835301376'],
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
  'f(x) = x',
  'pi = 3',
  'a.b = 3',
  'a[1] = 3',
  'x',
  '__proto__ = 1; __proto__.a',
  '2.5!',
  'bitAnd(1.5, 1)',
  '#',
  ' ',
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
  ['450!', 'factorial takes whole numbers from 0 up to 449 only'],
  ['9^9^9^9', 'beyond 10^±1000'],
  ['1e5000', 'beyond 10^±1000'],
  ['1e-5000', 'beyond 10^±1000'],
  ['exp(1e9)', 'exp takes numbers up to 2302 only'],
  ['tanh(1e900)', 'tanh takes numbers up to 2302 only'],
  ['sin(1e999)', 'sin takes numbers up to 1e+100 only'],
  ['combinations(1e9, 2)', 'combinations takes whole numbers from 0 up to 10000 only'],
  ['[[1, 1], [1, 0]]^1e9', 'pow takes a list to powers up to 100 only'],
  ['atan2([1, 2], 3)', 'atan2 takes no list'],
  ['zeros(1e6, 1e6)', 'there is no function "zeros"'],
  ['ones(1e5, 1e5)', 'there is no function "ones"'],
  ['range(0, 1e9)', 'there is no function "range"'],
  ['1:1e9', 'and nothing else'],
  ['10^10^10', 'beyond 10^±1000'],
  ['factorial(1e6)', 'from 0 up to 449 only'],
  ['1 << 3322', 'from 0 up to 3321 only'],
  ['round(1.5, 1e9)', 'from -100 to 100 only'],
  ['(10^999 + 1)^3', 'beyond 10^±1000'],
  ['(10^400 + 1)^999999999', 'beyond 10^±1000'],
  ['permutations(10000, 10000)', 'beyond 10^±1000'],
  [`[${'[1],'.repeat(120)}[1]] * [[${'1,'.repeat(120)}1]]`, 'lists have 400 items at most'],
  [`${'('.repeat(490)}1${')'.repeat(490)}`, 'nested too deeply'],
  [`${'-'.repeat(3_000)}1`, 'more than 1000 parts'],
  [`1${' + 1'.repeat(600)}`, 'more than 1000 parts'],
  ['1 / 0', 'at "1 / 0": it divides by zero'],
  ['5 + mod(3, 2 - 2)', 'at "mod(3, 2 - 2)": it divides by zero'],
  ['inv([[1, 2], [2, 4]])', 'at "inv([[1, 2], [2, 4]])"'],
  ['0^-1', 'it divides by zero'],
  ['log(0)', 'at "log(0)": it is infinite'],
  ['1 + asin(2)', 'at "asin(2)": it has no value'],
  ['2 kg + 3 m', 'at "2 kg + 3 m": Units do not match'],
  ['1 +', 'at character 4, after "1 +": Unexpected end of expression'],
  ['(1 + 2', 'at character 7, after "(1 + 2"'],
  ['a = 1\nb = 2\na + c', 'line 3: "c" is no unit'],
  ['a = 1; b = a / 0', 'at "a / 0"'],
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
  const longest = `${'12345678+'.repeat(444)}1234`
  expect(longest).toHaveLength(4_000)
  expect(await calculate(longest)).toBe(String(444 * 12_345_678 + 1_234))
  await expect(calculate(`${longest}1`)).rejects.toThrow('4000')
})

test('brackets stand in one another up to fifty times', async () => {
  const nested = (depth: number) => `${'('.repeat(depth)}1${')'.repeat(depth)}`
  expect(await calculate(nested(50))).toBe('1')
  await expect(calculate(nested(51))).rejects.toThrow('nested too deeply')
  expect(await calculate('(1)'.concat(' + (1)'.repeat(60)))).toBe('61')
})

test('an expression has up to a thousand parts', async () => {
  expect(await calculate(`1${' + 1'.repeat(499)}`)).toBe('500')
  await expect(calculate(`1${' + 1'.repeat(500)}`)).rejects.toThrow('more than 1000 parts')
})

const zeros = (count: number) => `[${Array.from({ length: count }, () => 0).join(',')}]`

test.each([
  ['449!', '450!'],
  ['1 << 3321', '1 << 3322'],
  ['combinations(10000, 2)', 'combinations(10001, 2)'],
  ['round(1, 100)', 'round(1, 101)'],
  ['round(1, -100)', 'round(1, -101)'],
  ['[[1, 0], [0, 1]]^100', '[[1, 0], [0, 1]]^101'],
  ['[[0.1, pi], [0, 0.1]]^100', '[[0.1, pi], [0, 0.1]]^101'],
  ['exp(2302)', 'exp(2303)'],
  ['sin(1e100)', 'sin(1.1e100)'],
  ['1e1000', '1e1001'],
  ['1e-1000', '1e-1001'],
  [`sum(${zeros(400)})`, `sum(${zeros(401)})`],
])('%s is within a limit, and %s is not', async (within, beyond) => {
  await expect(calculate(within)).resolves.toBeTypeOf('string')
  await expect(calculate(beyond)).rejects.toThrow(/only|beyond|at most/)
})

test('a fraction is exact up to a thousand digits, and rounded from there on', async () => {
  const third = (power: number) => `x = 1 / 3^${power}\nx * 3^${power} == 1`
  expect(await calculate(third(333), { format: 'fraction' })).toContain('true')
  const long = 'x = 1/7^550; y = 11^540; x * y'
  await expect(calculate(long, { format: 'fraction' })).rejects.toThrow('known exactly')
  expect(await calculate(long)).toMatch(/e\+97$/)
})

test('the largest factorial has all its digits, and the largest shift', async () => {
  let factorial = 1n
  for (let factor = 2n; factor <= 449n; factor++) factorial *= factor
  expect(await calculate('449!')).toBe(String(factorial))
  expect(await calculate('1 << 3321')).toBe(String(1n << 3321n))
})

test('several expressions build on each other, and each has its line', async () => {
  expect(await calculate('net = 80 * 3\nvat = net * 19%\nnet + vat')).toBe(
    'net = 240\nvat = 45.6\n285.6',
  )
  expect(await calculate('x = 2; x = x^10; x + 1')).toBe('x = 2\nx = 1024\n1025')
  // A name of one's own comes before a unit's.
  expect(await calculate('m = 10; v = 3; 1/2 * m * v^2')).toBe('m = 10\nv = 3\n45')
  expect(await calculate('\n# a remark\n1 + 1\n')).toBe('2')
})

test('what one call names, the next one does not know', async () => {
  await calculate('secret = 5')
  await expect(calculate('secret')).rejects.toThrow('"secret" is no unit')
})

test.each([
  ['3/8', 'fraction', undefined, '3/8'],
  ['0.1 + 0.2', 'fraction', undefined, '3/10'],
  ['[1/3, 2]', 'fraction', undefined, '[1/3, 2]'],
  ['3/8', 'scientific', undefined, '3.75e-1'],
  ['149597870700', 'scientific', 3, '1.496e+11'],
  ['3/8', 'percent', undefined, '37.5%'],
  ['1/3', 'percent', 1, '33.3%'],
  ['19.9', 'decimal', 2, '19.90'],
  ['2.675', 'decimal', 2, '2.68'],
  ['-2.5', 'decimal', 0, '-3'],
  ['2^150', 'decimal', 2, '1427247692705959881058285969449495136382746624.00'],
  ['sqrt(2)', 'decimal', 3, '1.414'],
  ['5 km to mi', 'decimal', 1, '3.1 mi'],
  ['255', 'hexadecimal', undefined, '0xff'],
  ['-8', 'octal', undefined, '-0o10'],
  ['2^64 - 1', 'binary', undefined, `0b${'1'.repeat(64)}`],
])('%s as %s with %s decimals is %s', async (expression, format, decimals, text) => {
  expect(
    await calculate(expression, decimals === undefined ? { format } : { format, decimals }),
  ).toBe(text)
})

test.each([
  ['sqrt(2)', 'fraction', 'no fraction that is known exactly'],
  ['1/3', 'hexadecimal', 'only a whole number has a hexadecimal form'],
  ['sqrt(2)', 'binary', 'not known exactly'],
])('%s has no form as %s, and the error says so', async (expression, format, reason) => {
  await expect(calculate(expression, { format })).rejects.toThrow(reason)
})

type Rational = { top: bigint; bottom: bigint }
type Tree = { text: string; value: Rational | undefined }

const gcd = (a: bigint, b: bigint): bigint => (b === 0n ? a : gcd(b, a % b))
const reduced = (top: bigint, bottom: bigint): Rational | undefined => {
  if (bottom === 0n) return undefined
  const sign = bottom < 0n ? -1n : 1n
  const common = gcd(top < 0n ? -top : top, bottom * sign) || 1n
  return { top: (sign * top) / common, bottom: (sign * bottom) / common }
}
const raised = ({ top, bottom }: Rational, by: number): Rational | undefined => {
  const times = BigInt(Math.abs(by))
  return by < 0 ? reduced(bottom ** times, top ** times) : reduced(top ** times, bottom ** times)
}

/** Expressions of every form, each with what it is worth by whole numbers alone. */
const tree: fc.Arbitrary<Tree> = fc.letrec<{ tree: Tree }>(tie => ({
  tree: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.tuple(fc.nat(9_999), fc.nat(3)).map(([digits, places]) => {
      const padded = String(digits).padStart(places + 1, '0')
      const cut = padded.length - places
      const text = places === 0 ? padded : `${padded.slice(0, cut)}.${padded.slice(cut)}`
      return { text, value: reduced(BigInt(digits), 10n ** BigInt(places)) }
    }),
    fc
      .tuple(tie('tree'), fc.constantFrom('+', '-', '*', '/'), tie('tree'))
      .map(([left, sign, right]) => ({
        text: `(${left.text} ${sign} ${right.text})`,
        value: left.value && right.value && combined(left.value, sign, right.value),
      })),
    fc.tuple(tie('tree'), fc.integer({ min: -3, max: 3 })).map(([base, by]) => ({
      text: `(${base.text})^${by}`,
      value: base.value && raised(base.value, by),
    })),
    tie('tree').map(({ text, value }) => ({
      text: `(-${text})`,
      value: value && reduced(-value.top, value.bottom),
    })),
  ),
})).tree

const combined = (a: Rational, sign: string, b: Rational): Rational | undefined => {
  if (sign === '*') return reduced(a.top * b.top, a.bottom * b.bottom)
  if (sign === '/') return reduced(a.top * b.bottom, a.bottom * b.top)
  const right = sign === '+' ? b.top : -b.top
  return reduced(a.top * b.bottom + right * a.bottom, a.bottom * b.bottom)
}

const SHORT = 10n ** 400n
const isShort = ({ top, bottom }: Rational) => (top < 0n ? -top : top) < SHORT && bottom < SHORT

test('what whole numbers say of + - * / ^ and brackets is what is calculated, exactly', async () => {
  await fc.assert(
    fc.asyncProperty(tree, async ({ text, value }) => {
      if (value === undefined) {
        await expect(calculate(text, { format: 'fraction' })).rejects.toThrow('divides by zero')
        return
      }
      fc.pre(isShort(value))
      const { top, bottom } = value
      expect(await calculate(text, { format: 'fraction' })).toBe(
        bottom === 1n ? `${top}` : `${top}/${bottom}`,
      )
    }),
    { numRuns: 500 },
  )
})

test('a decimal is off by less than half of its last digit', async () => {
  await fc.assert(
    fc.asyncProperty(tree, fc.nat(20), async ({ text, value }, decimals) => {
      fc.pre(value !== undefined && isShort(value) && value.top < 10n ** 30n * value.bottom)
      if (!value) return
      const shown = String(await calculate(text, { decimals }))
      fc.pre(!shown.includes('e'))
      const scale = 10n ** BigInt(decimals)
      const digits = BigInt(shown.replace('.', ''))
      const off = digits * value.bottom - value.top * scale
      expect(2n * (off < 0n ? -off : off) <= value.bottom).toBe(true)
    }),
    { numRuns: 300 },
  )
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

test('whole powers are exact for as many digits as a number may have', async () => {
  const powers = fc
    .record({ base: fc.bigInt(2n, 999n), digits: fc.integer({ min: 1, max: 999 }) })
    .map(({ base, digits }) => [base, Math.floor(digits / Math.log10(Number(base)))] as const)
  await fc.assert(
    fc.asyncProperty(powers, fc.bigInt(2n, 10n ** 9n), async ([base, exponent], by) => {
      const value = base ** BigInt(exponent)
      expect(await calculate(`${base}^${exponent}`)).toBe(`${value}`)
      expect(await calculate(`${base}^${exponent} mod ${by}`)).toBe(`${value % by}`)
    }),
    { numRuns: 100 },
  )
  expect(await calculate('2^3321 mod 1000')).toBe(`${2n ** 3321n % 1000n}`)
})

test('a remainder of digits that nobody knows is refused', async () => {
  await expect(calculate('exp(500) mod 7')).rejects.toThrow('known exactly')
  expect(await calculate('sqrt(2) * 10^9 mod 7')).toMatch(/^[0-6]\.\d+$/)
})
