declare module 'asl-validator' {
  /** Checks a definition against the language; it writes QueryLanguage into what it is given. */
  const validate: (
    definition: unknown,
    options?: { checkPaths?: boolean; checkArn?: boolean },
  ) => { isValid: boolean; errorsText: (separator?: string) => string }
  export = validate
}
