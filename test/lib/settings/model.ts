// What settings and permissions are to do, said once more and as simply as possible: nothing here
// comes from the code that it is compared with.

export type ModelSetting = {
  type: string
  label: string
  default?: unknown
  required?: boolean
  scope?: string
  options?: readonly string[]
  exposeToLlm?: boolean
}
export type ModelTool = Record<string, ModelSetting>
/** What is set, by layer, then by key; values as a person wrote them. */
export type ModelState = Record<string, Record<string, unknown>>

export const LAYERS = ['global', 'principal', 'agent']

/** The keys of a write that are wrong; there are none where it is made. */
export const wrongKeys = (tool: ModelTool, layer: string, write: Record<string, unknown>) =>
  Object.entries(write)
    .filter(([key, value]) => {
      const setting = tool[key]
      if (!setting) return true
      if (value === null || value === '') return false
      if (setting.scope === 'agent' && layer !== 'agent') return true
      if (setting.scope === 'principal' && layer === 'global') return true
      if (setting.type === 'password' && value === '***') return false
      return !fits(setting, value)
    })
    .map(([key]) => key)

const fits = ({ type, options }: ModelSetting, value: unknown): boolean => {
  if (type === 'toggle') return value === true || value === false
  if (type === 'number') return typeof value === 'number' && Math.abs(value) < Infinity
  if (type === 'multi-select')
    return (
      Array.isArray(value) &&
      value.every(item => typeof item === 'string' && (!options || options.includes(item)))
    )
  if (typeof value !== 'string') return false
  if (type === 'select') return !options || options.includes(value)
  if (type === 'password') return value.trim().length >= 4
  return true
}

/** A layer after a write that has nothing wrong. */
export const afterWrite = (
  tool: ModelTool,
  before: Record<string, unknown>,
  write: Record<string, unknown>,
): Record<string, unknown> => {
  const after = { ...before }
  for (const [key, value] of Object.entries(write)) {
    if (value === null || value === '') delete after[key]
    else if (!(tool[key]?.type === 'password' && value === '***')) after[key] = value
  }
  return after
}

/** A setting's value and source for someone to whom only these layers apply. */
export const effective = (tool: ModelTool, state: ModelState, layers: string[]) =>
  Object.fromEntries(
    Object.entries(tool).map(([key, setting]) => {
      let value = setting.default
      let source = value === undefined ? undefined : 'default'
      for (const layer of LAYERS) {
        const set = state[layer]?.[key]
        if (layers.includes(layer) && set !== undefined) {
          value = set
          source = layer
        }
      }
      return [key, { value, source }]
    }),
  )

/** What a model of an agent reads of settings. */
export const lines = (tool: ModelTool, values: Record<string, { value: unknown }>): string => {
  const shown = Object.entries(tool).filter(([, setting]) => setting.exposeToLlm)
  if (shown.length === 0) return ''
  let text = '[Effective Configuration]'
  for (const [key, { label }] of shown) {
    const value = values[key]?.value
    const words = Array.isArray(value) ? value.join(', ') : String(value)
    text += `\n- ${label}: ${value === undefined ? '(not configured)' : words}`
  }
  return text
}

export type ModelCaller = { id: string; kind: 'user' | 'agent'; isAdmin: boolean }
export type ModelOwner = { id: string; members: Record<string, string>; exists: boolean }

/** Whether someone may do something with what an owner has; if not, whether they learn that it is there. */
export const may = (
  caller: ModelCaller,
  action: string,
  owner: ModelOwner,
): 'yes' | 'forbidden' | 'missing' => {
  if (caller.kind === 'agent') return 'missing'
  if (caller.isAdmin) return 'yes'
  const isSelf = caller.id === owner.id
  const role = isSelf ? 'owner' : owner.exists ? owner.members[caller.id] : undefined
  if (role === undefined) return 'missing'
  if (action === 'manage-instance') return 'forbidden'
  if (action === 'read' || action === 'run') return 'yes'
  if (role === 'member') return 'forbidden'
  if (action === 'transfer') return role === 'owner' ? 'yes' : 'forbidden'
  return 'yes'
}
