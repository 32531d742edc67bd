// The build for browsers: the usual one takes along a DOM of its own, which is 210 KiB.
declare module 'turndown/lib/turndown.browser.cjs.js' {
  import type TurndownService from 'turndown'

  const service: typeof TurndownService
  export = service
}
