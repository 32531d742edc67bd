// Nothing else is ever called: no import, no parse, no function that makes or reaches objects.

export const CONSTANTS = ['pi', 'e', 'tau', 'phi', 'i'] as const

/** What people write, and what the library calls it. */
export const ALIASES = new Map([
  ['ln', 'log'],
  ['avg', 'mean'],
  ['average', 'mean'],
  ['var', 'variance'],
  ['quantile', 'quantileSeq'],
  ['solve', 'lusolve'],
])

/** Units that the library doesn't have, in those that it has. */
export const OWN_UNITS = {
  mph: '1 mi/h',
  kmh: '1 km/h',
  nmi: '1852 m',
  knot: '1852 m/h',
  kcal: '4184 J',
}

const words = (text: string) => text.split(' ')

/** Integers alone, as many digits as they have. */
export const INTEGER_FUNCTIONS =
  'factorial combinations permutations bitAnd bitOr bitXor bitNot leftShift rightArithShift'

/** Functions by the name that a caller writes; a description lists them. */
export const FUNCTIONS =
  `abs sign sqrt cbrt nthRoot pow exp log log2 log10 round floor ceil fix mod gcd lcm hypot ` +
  `${INTEGER_FUNCTIONS} sin cos tan asin acos atan atan2 sinh cosh tanh asinh acosh atanh ` +
  'sum prod min max mean median mode std variance quantileSeq mad corr cumsum ' +
  'det inv transpose dot cross trace norm lusolve re im arg conj'

const OPERATORS =
  'add subtract multiply divide mod pow unaryMinus unaryPlus factorial to ' +
  'smaller smallerEq larger largerEq equal unequal ' +
  'bitAnd bitOr bitXor bitNot leftShift rightArithShift'

export const CALLABLE = {
  operator: new Set(words(OPERATORS)),
  function: new Set(words(FUNCTIONS)),
}

/** What lists may go into: elsewhere, one operation would be as many as its list has items. */
export const TAKES_LISTS = new Set(
  words(
    'add subtract multiply divide pow unaryMinus unaryPlus sum prod min max mean median mode std ' +
      'variance quantileSeq mad corr cumsum det inv transpose dot cross trace norm lusolve',
  ),
)

/** What the library does with fractions, without rounding. */
export const EXACT = new Set(
  words(
    'add subtract multiply divide mod unaryMinus unaryPlus abs sign floor ceil fix gcd lcm ' +
      'smaller smallerEq larger largerEq equal unequal sum prod min max mean variance mode cumsum ' +
      'det inv transpose dot cross trace lusolve pow',
  ),
)
/** Of those, the ones that multiply many numbers with each other: their results grow. */
export const GROWS = new Set(words('multiply prod dot cross det inv lusolve pow variance'))

export const FORMATS = [
  'decimal',
  'scientific',
  'fraction',
  'percent',
  'hexadecimal',
  'octal',
  'binary',
] as const
/** Digits that are shown of what is not exact: the rest of those calculated absorbs rounding. */
export const RESULT_DIGITS = 40
