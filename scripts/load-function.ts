/** A function's module, by its name in the route table. */
export const loadFunction = (module: string) => import(`../functions/${module}.ts`)
