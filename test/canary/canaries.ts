import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { REDACTED } from '../../src/access/redaction/redact.ts'
import { createFinder, SHORTEST } from './finder.ts'
import { formsOf } from './forms.ts'

/** The kind of a secret, as in the message of a hit. */
export type Kind =
  | 'agent key'
  | 'board token'
  | 'bearer token'
  | 'claim secret'
  | 'company secret'
  | 'env value'
  | 'key file'
  | 'link token'
  | 'metadata secret'
  | 'password'
  | 'run token'
  | 'sealed value'
  | 'session'
  | 'webhook secret'

/** The secrets of the server of one test, and the search for them in its files and output. */
export interface Canaries {
  /**
   * Records a secret. Secrets of less than 8 bytes, or with fewer than 5 different bytes
   * (`xxxxxxxx`), are ignored because normal text contains them. References
   * to secrets are also ignored. @returns the secret
   */
  notice<Secret extends string | Uint8Array>(kind: Kind, secret: Secret): Secret
  /** Records a secret that a request contains. */
  noticeGiven(kind: Kind, secret: string): void
  /** From now on, records only secrets of requests that contain a mark, because other values are random. */
  onlyMarked(mark: string): void
  /**
   * Searches for every secret in every encoding.
   *
   * @param place the name in the message of a hit
   * @param displayed the one permitted secret: the token of its own link on a page
   */
  search(place: string, content: string | Buffer, displayed?: string): void
  /**
   * Searches all files of a folder except its keys. It can miss concurrent changes.
   *
   * @param known a content without secrets, which is not searched: the empty database
   */
  searchFolder(folder: string, known?: Buffer): void
  /** Excludes a kind from the search of certain places in this test. */
  except(kind: Kind, place: RegExp, why: string): void
  /** Returns the recorded kinds, sorted. */
  kinds(): Kind[]
  /** Fails if a secret was found. The error names its kind and place, but not the secret. */
  assertNoHits(): void
}

interface Noticed {
  kind: Kind
  text: string
}

interface Exception {
  kind: Kind
  place: RegExp
  why: string
}

const LEAST_VARIED = 5

export function createCanaries(): Canaries {
  const noticed = new Map<string, Kind>()
  const finder = createFinder<Noticed>()
  const exceptions: Exception[] = []
  const hits = new Set<string>()
  let mark = ''
  const hit = (kind: Kind, place: string) => {
    if (!exceptions.some((one) => one.kind === kind && one.place.test(place))) hits.add(`${kind} in ${place}`)
  }
  const notice: Canaries['notice'] = (kind, secret) => {
    const bytes = Buffer.from(secret)
    const text = bytes.toString('latin1')
    const isTooPlain = bytes.length < SHORTEST || new Set(bytes).size < LEAST_VARIED
    if (isTooPlain || text === REDACTED || noticed.has(text)) return secret
    noticed.set(text, kind)
    for (const form of formsOf(bytes)) finder.add(form, { kind, text: bytes.toString() })
    return secret
  }
  const search: Canaries['search'] = (place, content, displayed = '') => {
    for (const { kind, text } of finder.find(typeof content === 'string' ? Buffer.from(content) : content)) {
      if (text !== displayed) hit(kind, place.replaceAll(text, '...'))
    }
  }
  return {
    notice,
    noticeGiven(kind, secret) {
      if (secret.includes(mark)) notice(kind, secret)
    },
    onlyMarked(text) {
      mark = text
    },
    search,
    searchFolder(folder, known) {
      const files = readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => path.join(entry.parentPath, entry.name))
      for (const file of files.filter(isKey)) notice('key file', readFileSync(file))
      for (const file of files.filter((file) => !isKey(file))) {
        const content = readIfExists(file)
        if (known?.equals(content)) continue
        const place = path.relative(folder, file)
        search(place, content)
        for (const kind of findCreatedSecrets(content)) hit(kind, place)
      }
    },
    except: (kind, place, why) => exceptions.push({ kind, place, why }),
    kinds: () => [...new Set(noticed.values())].toSorted(),
    assertNoHits: () => assert.deepEqual([...hits], [], 'A secret is where none may be.'),
  }
}

const isKey = (file: string) => path.basename(path.dirname(file)) === 'keys'

/** Reads a file. A file that a live process has removed is empty. */
function readIfExists(file: string): Buffer {
  try {
    return readFileSync(file)
  } catch {
    return Buffer.alloc(0)
  }
}

/** The prefix of every run token: its header is constant. */
const RUN_TOKEN = Buffer.from('{"alg":"HS256","typ":"service-run+jwt"}').toString('base64url')

/**
 * Finds secrets that the server created and that have a known format, including
 * those of separate server processes, where the test does not see the responses.
 * The checksum of a key distinguishes it from similar text.
 */
function* findCreatedSecrets(content: Buffer): Generator<Kind> {
  if (content.includes(`${RUN_TOKEN}.`)) yield 'run token'
  if (!content.includes('svc')) return
  for (const [, prefix, body = '', checksum] of content.toString('latin1').matchAll(MADE_KEY)) {
    if (hash('sha256', body, 'base64url').slice(0, 6) === checksum)
      yield prefix === 'svc_' ? 'agent key' : 'board token'
  }
}

const MADE_KEY = /(svcb?_)([\w-]{43})([\w-]{6})/g
