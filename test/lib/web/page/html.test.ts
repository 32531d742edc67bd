import { describe, expect, it, test } from 'vitest'
import { cleanPage, MAX_BLANKS, MAX_BREAKS, MAX_DEPTH } from '../../../../lib/web/page/clean.ts'
import { htmlToMarkdown, MAX_PIECES, MAX_TEXT_CHARS } from '../../../../lib/web/page/html.ts'

const read = (html: string) => htmlToMarkdown(html, new URL('https://garden.example/a/b.html?q=1'))
const textOf = async (html: string) => (await read(html)).text
const PROSE =
  '<p>Espaliered trees are trained flat against a wall, where the stored warmth of the day helps ' +
  'fruit to ripen, and pruning in summer keeps the frame in shape for many years.</p>'

/** A page as sites make them, with all that stands around what it is there for. */
const site = (main: string, head = '') =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Pears | Garden</title>${head}
  <style>p { color: green }</style><script>var secret = 'in a script'</script></head><body>
  <header><nav><a href="/">Home</a> <a href="/shop">Shop</a></nav></header>
  <div class="cookie-banner">We use cookies. <button>Accept</button></div>${main}
  <aside class="sidebar"><ul><li><a href="/r/1">Related story</a></li></ul></aside>
  <footer><p>Imprint</p></footer><noscript>Turn scripts on</noscript></body></html>`

describe('a page', () => {
  it('is its article, without what stands around it', async () => {
    const { title, text, note } = await read(
      site(`<article><h1>Pears</h1>${PROSE.repeat(4)}<h2>Winter</h2>${PROSE.repeat(2)}</article>`),
    )
    expect(title).toBe('Pears | Garden')
    expect(note).toBeUndefined()
    expect(text).toContain('## Winter')
    expect(text.match(/Espaliered/g)).toHaveLength(6)
    for (const other of [
      'Home',
      'cookies',
      'Accept',
      'Related',
      'Imprint',
      'Turn',
      'secret',
      'green',
    ])
      expect(text).not.toContain(other)
  })

  it('without an article is its main part, lists of links included', async () => {
    const teasers = [1, 2, 3].map(
      index => `<h2><a href="/story/${index}">Story ${index}</a></h2><p>Summary ${index}</p>`,
    )
    const text = await textOf(site(`<main>${teasers.join('')}</main>`))
    expect(text).toContain('## [Story 2](https://garden.example/story/2)\n\nSummary 2')
    expect(text).not.toContain('Imprint')
  })

  it('that marks nothing is all of it, without menus and footers', async () => {
    const text = await textOf(site('<div><span>Temperature</span> <b>21.4 °C</b></div>'))
    expect(text).toBe('Temperature **21.4 °C**')
  })

  it('has the title that it gives to others before its own', async () => {
    const head = '<meta property="og:title" content="Pears &amp; plums">'
    expect((await read(site('<p>x</p>', head))).title).toBe('Pears & plums')
    expect(await read('<p>x</p>')).toEqual({ text: 'x' })
  })

  it('of no words says that scripts may make them', async () => {
    for (const html of ['', '<div id="app"></div><script>render()</script>', '<!-- -->'])
      expect(await read(html)).toMatchObject({ text: '', note: expect.stringContaining('no text') })
  })

  it('keeps to itself what a browser would not show', async () => {
    const text = await textOf(
      `<div hidden>one</div><div style="color:red; display : none">two<div>three</div></div>
      <template>four</template><svg><text>five</text></svg><select><option>six</select>
      <textarea>seven</textarea><!-- eight --><iframe>nine</iframe><p aria-hidden="true">ten</p>
      <p>shown</p><div hidden="until-found">found</div>`,
    )
    expect(text.split(/\s+/)).toEqual(['shown', 'found'])
  })
})

describe('Markdown', () => {
  test.each([
    ['<h1>A</h1><h3>B <em>c</em></h3>', '# A\n\n### B *c*'],
    [
      '<p>a<br>b</p><hr><p><strong>c</strong> <del>d</del> <code>e</code></p>',
      'a  \nb\n\n---\n\n**c** ~~d~~ `e`',
    ],
    ['<p>x<sup>2</sup> and x<sub>i</sub></p>', 'x<sup>2</sup> and x<sub>i</sub>'],
    ['<blockquote><p>a</p><p>b</p></blockquote>', '> a\n> \n> b'],
    [
      '<ul><li>a<ol start="3"><li>b</li><li>c</ol></li><li><p>d</p></li></ul>',
      '-   a\n    3.  b\n    4.  c\n-   d',
    ],
    [
      '<ul><li><input type="checkbox" checked> a<li><input type="checkbox"> b</ul>',
      '-   [x] a\n-   [ ] b',
    ],
    ['<dl><dt>a<dd>b<dt>c<dd>d</dl>', '**a**\n: b\n\n**c**\n: d'],
    ['<p>1. *a* [b] # c_d</p>', '1. *a* [b] # c_d'],
    ['<p>a &lt;b&gt; &amp;amp; &#x5ead; &nbsp; c</p>', 'a <b> &amp; 庭 c'],
  ])('of %s', async (html, markdown) => {
    expect(await textOf(html)).toBe(markdown)
  })

  test.each([
    ['<pre><code class="language-ts">a &lt; b\n\n  c</code></pre>', '```ts\na < b\n\n  c\n```'],
    [
      '<div class="highlight highlight-source-rust"><pre><span>let</span> a</pre></div>',
      '```rust\nlet a\n```',
    ],
    ['<pre>\n  a\n</pre>', '```\n  a\n```'],
    ['<pre>```js\na\n```</pre>', '````\n```js\na\n```\n````'],
  ])('keeps code as it is: %s', async (html, markdown) => {
    expect(await textOf(html)).toBe(markdown)
  })

  it('has rows where a table has, with what is in their cells', async () => {
    const table =
      '<table><caption>Pears</caption><thead><tr><th>Name<th>Week</thead><tr><td><a href="/v">A</a>' +
      '<td>3<br>4</td></tr><tr><td>b | c<td></table>'
    expect(await textOf(table)).toBe(
      'Pears\n\n| Name | Week |\n| --- | --- |\n| [A](https://garden.example/v) | 3 4 |\n| b \\| c | |',
    )
  })

  it('has none where a table only lays out a page', async () => {
    const table = `<table><tr><td><a href="/a">A</a></td><td><h2>Pears</h2><p>b</p></td></tr></table>`
    expect(await textOf(table)).toBe('[A](https://garden.example/a)\n\n## Pears\n\nb')
  })
})

describe('an address', () => {
  test.each([
    ['c', 'https://garden.example/a/c'],
    ['../c?x=1&amp;y=2#z', 'https://garden.example/c?x=1&y=2#z'],
    ['//cdn.example/c', 'https://cdn.example/c'],
    ['/c d(e)', 'https://garden.example/c%20d%28e%29'],
    ['mailto:a@b.example', 'mailto:a@b.example'],
  ])('%s becomes absolute', async (href, url) => {
    expect(await textOf(`<p><a href="${href}">x</a></p>`)).toBe(`[x](${url})`)
    expect(await textOf(`<p><img alt="x" src="${href}"></p>`)).toBe(`![x](${url})`)
  })

  test.each(['javascript:alert(1)', '#part', '?q=1#part', 'data:text/html,x', 'http://[bad', ''])(
    '%j leads nowhere, and only its words are kept',
    async href => {
      const same = href === ''
      expect(await textOf(`<p><a href="${href}">x</a></p>`)).toBe(
        same ? '[x](https://garden.example/a/b.html?q=1)' : 'x',
      )
      if (!same) expect(await textOf(`<p><img alt="x" src="${href}"></p>`)).toBe('![x]')
    },
  )

  it('is relative to the base that the page gives, and an image’s is the one that loads', async () => {
    const base = '<base href="https://base.example/d/">'
    expect(await textOf(`${base}<p><a href="e">x</a></p>`)).toBe('[x](https://base.example/d/e)')
    const lazy = '<p><img src="data:image/gif;base64,AAAA" data-src="/pear.jpg" alt="pear"></p>'
    expect(await textOf(lazy)).toBe('![pear](https://garden.example/pear.jpg)')
  })
})

describe('a hostile page', () => {
  const P = '<p>pears</p>'
  test.each([
    ['50,000 nested elements', `${'<div>'.repeat(50_000)}${P}${'</div>'.repeat(50_000)}`],
    ['5 MB of links in links', `${'<a href=x>'.repeat(500_000)}${P}`],
    ['5 MB of links side by side', `${'<a href=x>y</a>'.repeat(330_000)}${P}`],
    ['nested lists', `${'<ul><li>x'.repeat(30_000)}${P}`],
    ['list items in paragraphs in list items', `<ul>${'<li><p>x<p>y'.repeat(6_000)}${P}`],
    ['nested quotes', `${'<blockquote>'.repeat(2_000)}${'<p>x<br>'.repeat(5_000)}${P}`],
    ['nested tables', `${'<table><tr><td>'.repeat(10_000)}${P}`],
    ['ends of nothing', `${'<div>'.repeat(100_000)}${'</span></p>'.repeat(200_000)}${P}`],
    ['comments', `${'<!-- x -->'.repeat(300_000)}${P}`],
    ['a comment without an end', `${P}${'<!--'.repeat(500_000)}`],
    ['scripts', `${'<script>x</script>'.repeat(100_000)}${P}`],
    ['entities', `${P}${'&amp;&#x41;'.repeat(300_000)}`],
    ['brackets', `${P}${'<'.repeat(2_000_000)}`],
    [
      'attributes',
      `<p ${Array.from({ length: 100_000 }, (_, index) => `a${index}`).join(' ')}>${P}`,
    ],
    ['one long attribute', `<p class="${'a '.repeat(1_500_000)}">${P}`],
    ['a title without an end', `${P}<title>${'| - '.repeat(500_000)}`],
    ['blanks', `<p>x${' \n\t'.repeat(1_500_000)}y${P}`],
    ['a line of 10 MB', `${P}<p>${'lorem ipsum '.repeat(850_000)}`],
    ['blanks that no browser joins', `<p>x${'\u00a0 '.repeat(900_000)}y${P}`],
    [
      'blanks in a table',
      `<table><tr><td>x${'&#160;\u2003'.repeat(39_000)}y<td>z<tr><td>${P}</table>`,
    ],
    ['empty lines of code', `<pre>x${'\n'.repeat(1_900_000)}y</pre>${P}`],
    ['breaks of a line', `<dl><dd>x${'<br>'.repeat(39_000)}y</dl>${P}`],
    ['numbered items', `<ol>${'<li>x'.repeat(19_000)}</ol>${P}`],
    ['strange names', `${'<a:b><x$y>< z><_>'.repeat(50_000)}${P}`],
  ])('of %s is read, and soon', async (_, html) => {
    expect(await textOf(html)).toContain('pears')
  })

  it('is a tree of so many levels and no more', async () => {
    const levels = (html: string) =>
      [...html.matchAll(/<(\/?)[a-z]/g)].reduce(
        ({ now, most }, [, end]) => {
          const next = end ? now - 1 : now + 1
          return { now: next, most: Math.max(most, next) }
        },
        { now: 0, most: 0 },
      )
    for (const unit of [
      '<div>',
      '<b><i>',
      '<li><p>',
      '<ul><li>',
      '<table><tr><td>',
      '<a>',
      '<p><div>',
    ]) {
      const { html } = await cleanPage(unit.repeat(1_000))
      // The page's own: html, head or body.
      expect(levels(html).most).toBeLessThanOrEqual(MAX_DEPTH + 2)
      expect(levels(html).now).toBe(0)
    }
    expect((await cleanPage(`${'<b>'.repeat(MAX_DEPTH)}x`)).html.match(/<b>/g)).toHaveLength(
      MAX_DEPTH,
    )
  })

  it('keeps lines and indents of code, headings and items among its words', async () => {
    const html = `<title>t</title><h2>A</h2> <p>b\n  c <b>d</b><pre>if x:\n  y</pre><ul><li> e<li>f</ul>`
    const { text } = await read(`${html}${'<i></i>'.repeat(MAX_PIECES)}`)
    expect(text).toBe('## A\n\nb c d\nif x:\n  y\n\n- e\n- f')
  })

  it('has so many blanks and breaks in a row and no more', async () => {
    const rows = async (blank: string, unit = blank) => {
      const inRow = (tag: string) =>
        `<${tag}>x${unit.repeat(1_000)}<b>${unit.repeat(9)}y</b></${tag}>`
      const { html } = await cleanPage(inRow('p') + inRow('pre'))
      const lengths = html
        .match(new RegExp(`(${blank}|</?b>)+`, 'g'))
        ?.map(row => row.split(blank).length - 1)
      return lengths?.filter(length => length > 0)
    }
    expect(await rows('\u00a0')).toEqual([MAX_BLANKS.usual, MAX_BLANKS.preformatted])
    expect(await rows('\u00a0', '&nbsp;')).toEqual([MAX_BLANKS.usual, MAX_BLANKS.preformatted])
    expect(await rows('<br>')).toEqual([MAX_BREAKS, MAX_BREAKS])
  })

  it('of more pieces or text than are laid out is its words and links', async () => {
    const paragraphs = (count: number) => `${'<p>y</p>'.repeat(count - 1)}<p><a href="/x">x</a></p>`
    expect((await read(paragraphs(MAX_PIECES / 2 - 1))).note).toBeUndefined()
    const { text, note } = await read(paragraphs(MAX_PIECES / 2 + 1))
    expect(note).toContain('too large')
    expect(text.endsWith('y\n\n[x](https://garden.example/x)')).toBe(true)
    expect((await read(`<p>${'x'.repeat(MAX_TEXT_CHARS)}`)).note).toBeUndefined()
    expect((await read(`<p>${'x'.repeat(MAX_TEXT_CHARS + 1)}`)).note).toContain('too large')
  })
})
