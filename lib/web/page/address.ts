/**
 * The absolute form of an address in a page, or undefined for what leads nowhere: code, data, and
 * places within the page itself.
 */
export const absoluteAddress = (address: string, base: URL): string | undefined => {
  const url = URL.parse(address.trim(), base)
  if (!url || !FOLLOWED.has(url.protocol)) return undefined
  if (url.hash !== '' && withoutHash(url) === withoutHash(base)) return undefined
  return url.href.replaceAll('(', '%28').replaceAll(')', '%29')
}

const FOLLOWED = new Set(['http:', 'https:', 'mailto:', 'tel:', 'ftp:'])

const withoutHash = ({ href, hash }: URL): string => href.slice(0, href.length - hash.length)
