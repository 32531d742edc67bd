/** Control characters, ends of lines and of paragraphs, and what turns the direction of all that follows. */
const UNREADABLE = /[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/u
/** Fillers of Hangul are letters that show nothing. */
const VISIBLE = /[^\p{C}\p{Z}\p{M}\u115f\u1160\u3164\uffa0]/u

/** Whether people can tell what a name is as they read it: one line, with something to see in it. */
export const isReadable = (name: string): boolean => !UNREADABLE.test(name) && VISIBLE.test(name)

/** The same of what somebody else calls someone; undefined where nothing of it can be seen. */
export const readable = (name: string): string | undefined => {
  const text = name.replace(new RegExp(UNREADABLE, 'gu'), ' ').trim()
  return VISIBLE.test(text) ? text : undefined
}
