import { expect, test } from 'vitest'
import { decodeText } from '../../../../lib/web/page/charset.ts'

const latin = (text: string) => Buffer.from(text, 'latin1')
const meta = (label: string) => `<meta charset="${label}">`

test.each([
  ['UTF-8 without a label', Buffer.from('Gärten – 庭'), undefined, 'Gärten – 庭'],
  ['UTF-8 with its label', Buffer.from('Gärten'), 'UTF-8', 'Gärten'],
  ['UTF-8 with a wrong label', Buffer.from('Gärten'), 'iso-8859-1', 'Gärten'],
  ['UTF-8 with a mark and a wrong label', Buffer.from('\ufeffGärten'), 'windows-1252', 'Gärten'],
  ['UTF-16 with a mark', Buffer.from('\ufeffGärten', 'utf16le'), 'utf-8', 'Gärten'],
  ['UTF-16BE with a mark', Buffer.from('\ufeffGärten', 'utf16le').swap16(), undefined, 'Gärten'],
  ['UTF-16 with a label', Buffer.from('Garten', 'utf16le'), 'utf-16le', 'Garten'],
  ['Latin 1 with its label', latin('Gärten'), 'ISO-8859-1', 'Gärten'],
  ['Latin 1 that says UTF-8', latin('Gärten für Äpfel'), 'utf-8', 'Gärten für Äpfel'],
  ['Latin 1 without a label', latin('Gärten'), undefined, 'Gärten'],
  ['Latin 1 with an unknown label', latin('Gärten'), 'klingon', 'Gärten'],
  ['windows-1252’s quotes', Buffer.from([0x93, 0x61, 0x94]), 'latin1', '“a”'],
  ['Shift_JIS', Buffer.from([0x92, 0xeb]), 'shift_jis', '庭'],
  [
    'Shift_JIS in a page that says so',
    Buffer.concat([latin(meta('Shift_JIS')), Buffer.from([0x92, 0xeb])]),
    undefined,
    `${meta('Shift_JIS')}庭`,
  ],
  [
    'Shift_JIS whose header says UTF-8',
    Buffer.concat([latin(meta('Shift_JIS')), Buffer.from([0x92, 0xeb])]),
    'utf-8',
    `${meta('Shift_JIS')}庭`,
  ],
  [
    'a header’s label before a page’s',
    Buffer.concat([latin(meta('koi8-r')), Buffer.from([0xe4])]),
    'windows-1252',
    `${meta('koi8-r')}ä`,
  ],
  [
    'XML that says so',
    Buffer.concat([latin('<?xml version="1.0" encoding="koi8-r"?>'), Buffer.from([0xd3])]),
    undefined,
    '<?xml version="1.0" encoding="koi8-r"?>с',
  ],
  [
    'a page that can’t be in the UTF-16 that it says',
    Buffer.from(`${meta('utf-16')}a`),
    undefined,
    `${meta('utf-16')}a`,
  ],
  [
    'ISO-2022-JP, all of it ASCII',
    Buffer.from([0x1b, 0x24, 0x42, 0x44, 0x6d, 0x1b, 0x28, 0x42]),
    'iso-2022-jp',
    '庭',
  ],
  [
    'UTF-8 with one broken byte',
    Buffer.concat([Buffer.from('Gärten für Äpfel'), Buffer.from([0xff])]),
    'utf-8',
    'Gärten für Äpfel\ufffd',
  ],
  [
    'UTF-8 with one broken byte and an old label',
    Buffer.concat([
      latin(meta('iso-8859-1')),
      Buffer.from('Gärten für Äpfel'),
      Buffer.from([0xff]),
    ]),
    'utf-8',
    `${meta('iso-8859-1')}Gärten für Äpfel\ufffd`,
  ],
  ['UTF-8 with the sign for what can’t be read', Buffer.from('a\ufffd'), undefined, 'a\ufffd'],
  ['nothing', Buffer.alloc(0), 'utf-8', ''],
  ['a label that the standard replaces', latin('Gärten'), 'iso-2022-kr', 'Gärten'],
])('%s is read', (_, bytes, label, text) => {
  expect(decodeText(bytes, label)).toBe(text)
})
