/** Works on so many of the items at once; false where the time was over before all were begun. */
export const inGroups = async <T>(
  items: readonly T[],
  size: number,
  work: (item: T) => Promise<unknown>,
  isOver: () => boolean = () => false,
): Promise<boolean> => {
  for (let from = 0; from < items.length; from += size) {
    if (isOver()) return false
    await Promise.all(items.slice(from, from + size).map(work))
  }
  return true
}
