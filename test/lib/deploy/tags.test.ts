import { describe, expect, it } from 'vitest'
import { MAX_ADDED_TAGS, MAX_KEY_CHARS, MAX_VALUE_CHARS, tagsOf } from '../../../lib/deploy/tags.ts'

const app = { name: 'espalier', stage: 'production' }
const read = (ESPALIER_TAGS?: string) => tagsOf(app, { ESPALIER_TAGS })

describe('the tags of a deploy', () => {
  it('are its app and stage, and those that are asked for', () => {
    const own = { app: 'espalier', stage: 'production' }
    expect(read()).toEqual(own)
    expect(read('')).toEqual(own)
    expect(read('team=research, cost-center = a=b ,')).toEqual({
      ...own,
      team: 'research',
      'cost-center': 'a=b',
    })
  })

  it.each(['team', 'team=', '=research', 'aws:team=x', 'sst:team=x', 'team=a;b', 'te"am=x'])(
    'are refused as "%s", which is none',
    text => {
      expect(() => read(text)).toThrow(`ESPALIER_TAGS has "${text}", which is no tag`)
    },
  )

  it('have keys and values as long as AWS takes them, and no longer', () => {
    const [key, value] = ['k'.repeat(MAX_KEY_CHARS), 'v'.repeat(MAX_VALUE_CHARS)]
    expect(read(`${key}=${value}`)).toHaveProperty(key, value)
    expect(() => read(`${key}k=v`)).toThrow('which is no tag')
    expect(() => read(`k=${value}v`)).toThrow('which is no tag')
  })

  it('are at most as many as an object of S3 has room for', () => {
    const tags = Array.from({ length: MAX_ADDED_TAGS }, (_, index) => `k${index}=v`)
    expect(Object.keys(read(tags.join()))).toHaveLength(MAX_ADDED_TAGS + 2)
    expect(() => read([...tags, 'one-more=v'].join())).toThrow(
      `has ${MAX_ADDED_TAGS + 1} tags; a deployment takes ${MAX_ADDED_TAGS}`,
    )
  })

  it.each(['team=a,team=b', 'Team=a,team=b', 'App=x', 'stage=x'])(
    'are refused as "%s", which says one key twice',
    text => {
      expect(() => read(text)).toThrow(/ESPALIER_TAGS has "(team|app|stage)" twice, or again/)
    },
  )
})
