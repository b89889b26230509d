import assert from 'node:assert/strict'
import { test } from 'node:test'
import { crc32 } from 'node:zlib'
import { readZip } from '../../../src/platform/source/zip.ts'
import { PACKAGE_FILES } from '../../../src/portability/source/package-files.ts'

/** Creates an archive of one stored file, with Zip64 fields for its sizes, offset and end record. */
function zip64(path: string, content: string, changed: { offset?: bigint } = {}): Buffer {
  const [name, data] = [Buffer.from(path), Buffer.from(content)]
  const local = Buffer.alloc(30)
  local.writeUInt32LE(0x04034b50)
  local.writeUInt16LE(name.length, 26)
  const entry = Buffer.alloc(46)
  entry.writeUInt32LE(0x02014b50)
  entry.writeUInt32LE(crc32(data), 16)
  entry.writeUInt32LE(0xffffffff, 20)
  entry.writeUInt32LE(0xffffffff, 24)
  entry.writeUInt16LE(name.length, 28)
  entry.writeUInt16LE(28 + 5, 30)
  entry.writeUInt32LE(0xffffffff, 42)
  const other = Buffer.from([0x55, 0x54, 1, 0, 0]) // another extra field comes first
  const extra = Buffer.alloc(28)
  extra.writeUInt16LE(0x0001)
  extra.writeUInt16LE(24, 2)
  extra.writeBigUInt64LE(BigInt(data.length), 4)
  extra.writeBigUInt64LE(BigInt(data.length), 12)
  extra.writeBigUInt64LE(changed.offset ?? 0n, 20)
  const files = Buffer.concat([local, name, data])
  const directory = Buffer.concat([entry, name, other, extra])
  const record = Buffer.alloc(56)
  record.writeUInt32LE(0x06064b50)
  record.writeBigUInt64LE(44n, 4)
  record.writeBigUInt64LE(1n, 32)
  record.writeBigUInt64LE(BigInt(directory.length), 40)
  record.writeBigUInt64LE(BigInt(files.length), 48)
  const locator = Buffer.alloc(20)
  locator.writeUInt32LE(0x07064b50)
  locator.writeBigUInt64LE(BigInt(files.length + directory.length), 8)
  const end = Buffer.alloc(22)
  end.writeUInt32LE(0x06054b50)
  end.writeUInt16LE(0xffff, 10)
  end.writeUInt32LE(0xffffffff, 16)
  return Buffer.concat([files, directory, record, locator, end])
}

test('a Zip64 archive is read, and a damaged one is refused', async () => {
  const { files } = await readZip(zip64('COMPANY.md', 'We ship.'), PACKAGE_FILES)
  assert.equal(Buffer.from(files.get('COMPANY.md')!).toString(), 'We ship.')
  const damaged = /is a damaged zip archive/
  await assert.rejects(() => readZip(zip64('a', 'b', { offset: 2n ** 60n }), PACKAGE_FILES), damaged)
  const short = zip64('a', 'b')
  short.writeUInt16LE(4, short.indexOf(Buffer.from([1, 0, 24, 0])) + 2)
  await assert.rejects(
    () => readZip(short.fill(0xff, short.length - 20 - 22 + 8, short.length - 22 - 4), PACKAGE_FILES),
    damaged,
  )
  const noField = zip64('a', 'b')
  noField[noField.indexOf(Buffer.from([1, 0, 24, 0]))] = 9
  await assert.rejects(() => readZip(noField, PACKAGE_FILES), damaged)
})
