/** Moves this process's clock, which goes on as fast as ever; returns what moves it back. */
export const shiftTime = (offsetMs: number): (() => void) => {
  const RealDate = Date
  globalThis.Date = class extends RealDate {
    constructor(...parts: [] | [number | string | Date]) {
      super(...((parts.length === 0 ? [RealDate.now() + offsetMs] : parts) as [number]))
    }
    static override now = () => RealDate.now() + offsetMs
  } as DateConstructor
  return () => {
    globalThis.Date = RealDate
  }
}
