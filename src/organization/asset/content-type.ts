/**
 * Detects the content type of a file from its bytes. The name and the type that
 * the client declares are ignored, because a browser decides by the type what
 * to run.
 *
 * The library `file-type` does not detect SVG or plain text. This check covers
 * all six types that the API treats differently.
 */
export function contentTypeOf(bytes: Uint8Array): string {
  const signature = SIGNATURES.find(({ parts }) => parts.every(([at, text]) => latin1(bytes, at, text.length) === text))
  if (signature) return signature.type
  const text = decodeText(bytes)
  if (text === undefined) return 'application/octet-stream'
  return isSvg(text.slice(0, MAX_PROLOG)) ? 'image/svg+xml' : 'text/plain; charset=utf-8'
}

/** Whether a browser may display a file of this type in a page. */
export const isImage = (contentType: string) => contentType.startsWith('image/')

const SIGNATURES: readonly { type: string; parts: readonly (readonly [at: number, text: string])[] }[] = [
  { type: 'image/png', parts: [[0, '\x89PNG\r\n\x1a\n']] },
  { type: 'image/jpeg', parts: [[0, '\xff\xd8\xff']] },
  { type: 'image/gif', parts: [[0, 'GIF87a']] },
  { type: 'image/gif', parts: [[0, 'GIF89a']] },
  {
    type: 'image/webp',
    parts: [
      [0, 'RIFF'],
      [8, 'WEBP'],
    ],
  },
  { type: 'application/pdf', parts: [[0, '%PDF-']] },
]

const latin1 = (bytes: Uint8Array, at: number, length: number) =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1', at, at + length)

/** Decodes bytes as UTF-8 text. Returns undefined if they are not valid text. */
function decodeText(bytes: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    return text.includes('\0') ? undefined : text
  } catch {
    return undefined
  }
}

/** The maximum length of the part before the first element, in characters. 5 MB of comments would take 80 ms. */
const MAX_PROLOG = 64 * 1024

/** Whether the first element of a document is `<svg>`, after the prolog that XML allows. */
function isSvg(text: string): boolean {
  let rest = text.trimStart()
  for (;;) {
    const end = rest.startsWith('<?')
      ? rest.indexOf('?>') + 2
      : rest.startsWith('<!--')
        ? rest.indexOf('-->', 4) + 3
        : /^<!doctype svg\b[^>[]*>/i.exec(rest)?.[0].length
    // An opening without an end gives -1 plus the length of the end: there is no next element.
    if (end === undefined || end < 4) return /^<svg[\s/>]/.test(rest)
    rest = rest.slice(end).trimStart()
  }
}
