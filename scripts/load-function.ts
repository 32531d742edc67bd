/** A function's module, by its name in the route table: a folder and a file. */
export const loadFunction = (module: string) => {
  const [folder, file] = module.split('/')
  return import(`../functions/${folder}/${file}.ts`)
}
