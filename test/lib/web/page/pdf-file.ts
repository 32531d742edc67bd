import { deflateSync } from 'node:zlib'

/** A PDF of pages with one line each; what its first page's stream holds may be given instead. */
export const pdfOf = (
  lines: string[],
  { title = '', stream }: { title?: string; stream?: Buffer } = {},
) => {
  const objects: Buffer[] = []
  const add = (...parts: (string | Buffer)[]) => {
    const number = objects.length + 1
    objects.push(
      Buffer.concat([`${number} 0 obj\n`, ...parts, '\nendobj\n'].map(part => Buffer.from(part))),
    )
    return number
  }
  const kids = lines.map((_, index) => `${4 + 2 * index} 0 R`).join(' ')
  add('<< /Type /Catalog /Pages 2 0 R >>')
  add(`<< /Type /Pages /Kids [${kids}] /Count ${lines.length} >>`)
  add('<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>')
  for (const [index, line] of lines.entries()) {
    const data =
      index === 0 && stream ? stream : deflateSync(`BT /F1 12 Tf 72 720 Td (${line}) Tj ET`)
    add(
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents ${5 + 2 * index} 0 R ` +
        '/Resources << /Font << /F1 3 0 R >> >> >>',
    )
    add(`<< /Length ${data.length} /Filter /FlateDecode >>\nstream\n`, data, '\nendstream')
  }
  const info = add(`<< /Title (${title}) >>`)
  let offset = '%PDF-1.4\n'.length
  const offsets = objects.map(object => {
    const at = offset
    offset += object.length
    return at
  })
  const table = offsets.map(at => `${String(at).padStart(10, '0')} 00000 n \n`).join('')
  return Buffer.concat(
    [
      '%PDF-1.4\n',
      ...objects,
      `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${table}`,
      `trailer\n<< /Size ${objects.length + 1} /Root 1 0 R /Info ${info} 0 R >>\n`,
      `startxref\n${offset}\n%%EOF\n`,
    ].map(part => Buffer.from(part)),
  )
}
