import type { BuildInput } from './build-function.ts'

/** What is asked of one evaluation of `sst.config.ts`. */
export type Request = {
  stage: string
  /** As `sst dev` evaluates it. */
  dev: boolean
  /** What `sst secret set` has stored. */
  secrets: Record<string, string>
  /** What else the deploy's environment holds. */
  environment: Record<string, string>
  /** Other contents of files, by their path from the root: nothing is written there. */
  replaced: Record<string, string>
  /** Which handlers are made ready: those whose folder the config gives are tried, all others bundled. */
  builds: 'none' | 'given' | 'all'
}

export type Reference = { type: string; name: string }

/** A resource as the program registered it: what the engine was asked for, and what AWS answered. */
export type Resource = Reference & {
  urn: string
  id: string
  custom: boolean
  /** The component, or the resource, that it is part of. */
  parent?: Reference
  inputs: Record<string, unknown>
  state: Record<string, unknown>
  /** Where in its inputs a secret is: the engine encrypts these in its state, and shows none. */
  secrets: string[]
  /** Left as it is when the stack lets go of it. */
  retained: boolean
  /** The engine refuses to delete it. */
  isProtected: boolean
}

/** A function that was to be made ready: bundled as SST does it, or looked at where it was ready. */
export type Build = {
  functionId: string
  handler: string
  /** The folder that the config gave, where it did. */
  given?: string
  /** The folder that is deployed. */
  out: string
  errors: string[]
}

export type Synthesis = {
  app: { name: string; stage: string; removal?: string; protect?: boolean }
  dev: boolean
  resources: Resource[]
  /** In a deploy. */
  builds: Build[]
  /** In `sst dev`: what its builder is told to bundle when it is first called. */
  targets: BuildInput[]
  outputs: Record<string, unknown>
  /** What a deploy would have stopped with. */
  errors: string[]
}
