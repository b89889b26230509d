import assert from 'node:assert/strict'
import { existsSync, readdirSync, statSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { contentTypeOf } from '../../../src/organization/asset/content-type.ts'
import { assetFile } from '../../../src/organization/asset/store.ts'
import { insertIssue } from '../../arrange.ts'
import { createTestApp } from '../../helpers.ts'
import { arrangeCompany } from '../../make.ts'
import { startTestServer } from '../../server.ts'

const PNG = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')
const SVG = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'

const formOf = (content: string | Uint8Array, name = 'logo.png', field = 'file') => {
  const form = new FormData()
  form.append(
    field,
    new File([typeof content === 'string' ? content : Buffer.from(content)], name, { type: 'text/html' }),
  )
  return form
}

async function arrange(t: Parameters<typeof createTestApp>[0]) {
  const app = createTestApp(t)
  const people = await arrangeCompany(app)
  const path = `/api/companies/${people.company.id}/logo`
  const upload = async (content: string | Uint8Array, name?: string) =>
    (await app.request('POST', path, formOf(content, name))).body
  return { ...app, ...people, app, path, upload }
}

for (const [what, content, type] of [
  ['PNG', PNG, 'image/png'],
  ['JPEG', Buffer.from('ffd8ffe000104a464946', 'hex'), 'image/jpeg'],
  ['GIF', 'GIF89a......', 'image/gif'],
  ['WebP', 'RIFF\x10\0\0\0WEBPVP8 ', 'image/webp'],
  ['SVG', SVG, 'image/svg+xml'],
  ['SVG with its prolog', `\ufeff<?xml version="1.0"?>\n<!-- a -->\n<!DOCTYPE svg>\n${SVG}`, 'image/svg+xml'],
] as const) {
  test(`accepts ${what} as a logo, whatever the file name`, async (t) => {
    const { upload, request } = await arrange(t)
    const made = await upload(content as string, 'page.html')
    assert.equal(made.contentType, type)
    const { status, headers } = await request('GET', made.url)
    assert.equal(status, 200)
    assert.equal(headers.get('content-type'), type)
    assert.equal(headers.get('content-disposition'), "inline; filename*=UTF-8''page.html")
    assert.equal(headers.get('content-security-policy'), "default-src 'none'; style-src 'unsafe-inline'; sandbox")
    assert.equal(headers.get('x-content-type-options'), 'nosniff')
    assert.equal(headers.get('cache-control'), 'private, max-age=31536000, immutable')
  })
}

for (const [what, content] of [
  ['a page', '<!doctype html><script>alert(1)</script>'],
  ['a page that begins with a comment', '<!-- <svg> --><html><svg></svg></html>'],
  ['a text that names svg', 'svg <svg></svg>'],
  ['an SVG with a DTD of its own', `<!DOCTYPE svg [<!ENTITY a "b">]>${SVG}`],
  ['a comment without an end', '<!-- <svg></svg>'],
  ['an SVG after 64 KB of comments', `${'<!---->'.repeat(10_000)}${SVG}`],
  ['a program', Buffer.from('7f454c46020101', 'hex')],
] as const) {
  test(`refuses ${what} as a logo, and stores nothing`, async (t) => {
    const { request, path: route, config } = await arrange(t)
    assert.equal((await request('POST', route, formOf(content as string, 'logo.png'))).status, 415)
    assert.equal(existsSync(path.join(config.dataDir, 'assets')), false)
  })
}

test('a PATCH of the company assigns an uploaded logo', async (t) => {
  const { upload, company, request, ceo, path: route } = await arrange(t)
  const made = await upload(PNG, '/etc/../we\u0007ird "ü".png')
  assert.equal(made.fileName, 'weird "ü".png')
  assert.equal(made.byteSize, PNG.length)
  const { body } = await request('PATCH', `/api/companies/${company.id}`, { logoAssetId: made.assetId })
  assert.equal(body.logoUrl, made.url)
  const own = (await ceo.request('POST', route, formOf(PNG))).body
  assert.equal(own.createdByAgentId, ceo.id)
  const branded = await ceo.request('PATCH', `/api/companies/${company.id}/branding`, { logoAssetId: own.assetId })
  assert.equal(branded.body.logoAssetId, own.assetId)
})

test('a download returns the uploaded content, and 304 for a matching ETag', async (t) => {
  const { upload, request, engineer, stranger, app } = await arrange(t)
  const made = await upload(SVG)
  const first = await engineer.request('GET', made.url)
  assert.equal(first.body, SVG)
  const tag = first.headers.get('etag')!
  assert.equal((await request('GET', made.url, undefined, { 'if-none-match': tag })).status, 304)
  assert.equal((await stranger.request('GET', made.url)).status, 404)
  assert.equal((await request('GET', '/api/assets/nope')).status, 404)
  assert.equal((await request('GET', '/api/assets/..%2Fservice.db')).status, 404)
  assert.equal(statSync(assetFile(app.config, made.assetId)).mode & 0o777, 0o600)
})

test('only the board and the CEO of the company may upload a logo', async (t) => {
  const { path: route, engineer, stranger } = await arrange(t)
  assert.equal((await engineer.request('POST', route, formOf(PNG))).status, 403)
  assert.equal((await stranger.request('POST', route, formOf(PNG))).status, 403)
})

test('a logo upload requires a form with a non-empty field `file`', async (t) => {
  const { path: route, request } = await arrange(t)
  assert.equal((await request('POST', route, { file: 'x' })).status, 415)
  assert.equal((await request('POST', route)).status, 415)
  const misnamed = await request('POST', route, formOf(PNG, 'a.png', 'logo'))
  assert.equal(misnamed.status, 400)
  assert.equal(misnamed.body.details.fields[0].path, 'file')
  assert.equal((await request('POST', route, formOf(''))).status, 400)
  const text = new FormData()
  text.append('file', 'not a file')
  assert.equal((await request('POST', route, text)).status, 400)
  const broken = await request('POST', route, 'garbage', { 'content-type': 'multipart/form-data; boundary=x' })
  assert.equal(broken.status, 400)
  const elsewhere = await request('POST', '/api/companies', formOf(PNG))
  assert.equal(elsewhere.status, 415)
})

test('refuses a form of too many parts or headers before it is parsed, however its content type names the boundary', async (t) => {
  const { app, path: route } = await arrange(t)
  const part = '--b\r\nContent-Disposition: form-data; name="a"\r\n\r\n\r\n'
  const file = '--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n<svg/>\r\n'
  const upload = (parts: number, type: string) =>
    app.request('POST', route, `${part.repeat(parts)}${file}--b--\r\n`, { 'content-type': type })
  for (const type of [
    'multipart/form-data; boundary=b',
    'multipart/form-data; boundary="b"',
    'MULTIPART/FORM-DATA; x="; boundary=c"; BOUNDARY=b; boundary=d',
  ]) {
    assert.equal((await upload(99, type)).status, 201, type)
    const { status, body } = await upload(100, type)
    assert.equal(status, 400, type)
    assert.match(body.error, /the form has more than 100 parts/, type)
  }
  const headers = part.replace('\r\n\r\n', `${'\r\nX: y'.repeat(4_000)}\r\n\r\n`)
  const { status, body } = await app.request('POST', route, `${headers}${file}--b--\r\n`, {
    'content-type': 'multipart/form-data; boundary=b',
  })
  assert.equal(status, 400)
  assert.match(body.error, /a part of the form has more than 16384 bytes of headers/)
})

test('refuses a logo of more than 5 MB', async (t) => {
  const { path: route, request, config } = await arrange(t)
  const big = Buffer.concat([PNG, Buffer.alloc(5 * 1024 * 1024)])
  assert.equal((await request('POST', route, formOf(big))).status, 413)
  assert.equal((await request('POST', route, formOf(Buffer.concat([big, big])))).status, 413)
  assert.equal((await request('POST', route, formOf(big.subarray(0, 5 * 1024 * 1024)))).status, 201)
  assert.equal(readdirSync(path.join(config.dataDir, 'assets')).length, 1)
})

test('the limit applies to a chunked form', async (t) => {
  const { server } = await startTestServer(t)
  const company = await (
    await fetch(`${server.url}/api/companies`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'Acme' }),
    })
  ).json()
  const send = async (form: FormData) => {
    const whole = new Request('http://x', { method: 'POST', body: form })
    const type = whole.headers.get('content-type')!
    return fetch(`${server.url}/api/companies/${(company as { id: string }).id}/logo`, {
      method: 'POST',
      headers: { 'content-type': type },
      body: whole.body,
      duplex: 'half',
    })
  }
  assert.equal((await send(formOf(PNG))).status, 201)
  assert.equal((await send(formOf(Buffer.concat([PNG, Buffer.alloc(5 * 1024 * 1024)])))).status, 413)
  assert.equal((await send(formOf(Buffer.alloc(5 * 1024 * 1024 + 100_000)))).status, 413)
})

test('a repeated upload with the same Idempotency-Key is stored once', async (t) => {
  const { path: route, request, config } = await arrange(t)
  const form = formOf(PNG)
  // Reuses the same bytes, because each serialization of a form has a new boundary.
  const sample = new Request('http://x', { method: 'POST', body: form })
  const headers = { 'content-type': sample.headers.get('content-type')!, 'idempotency-key': 'k' }
  const bytes = Buffer.from(await sample.arrayBuffer()).toString('latin1')
  const svg = bytes.replace(PNG.toString('latin1'), SVG)
  const first = await request('POST', route, svg, headers)
  assert.equal(first.status, 201)
  assert.deepEqual((await request('POST', route, svg, headers)).body, first.body)
  assert.equal(readdirSync(path.join(config.dataDir, 'assets')).length, 1)
})

test('attaches a file to an issue, lists it, downloads it, and deletes it with its content', async (t) => {
  const { app, request, company, engineer, ceo, stranger } = await arrange(t)
  const issue = insertIssue(app.ctx, { company_id: company.id })
  const route = `/api/issues/${issue.identifier.toLowerCase()}/attachments`
  const made = (await engineer.request('POST', route, formOf('<script>1</script>', 'notes.md'))).body
  assert.equal(made.issueId, issue.id)
  assert.equal(made.contentType, 'text/plain; charset=utf-8')
  assert.deepEqual((await request('GET', route)).body, [made])
  const { headers, body } = await request('GET', made.url)
  assert.equal(headers.get('content-disposition'), "attachment; filename*=UTF-8''notes.md")
  assert.equal(body, '<script>1</script>')
  assert.equal((await stranger.request('GET', route)).status, 404)
  assert.equal((await stranger.request('DELETE', `/api/attachments/${made.id}`)).status, 404)
  assert.equal((await ceo.request('DELETE', `/api/attachments/${made.id}`)).status, 403)
  assert.equal((await engineer.request('DELETE', `/api/attachments/${made.id}`)).status, 200)
  assert.equal(existsSync(assetFile(app.config, made.assetId)), false)
  assert.deepEqual((await request('GET', route)).body, [])
  assert.equal((await request('GET', made.url)).status, 404)
})

test('an archived company refuses an upload, and stores no file', async (t) => {
  const { app, request, path: route, company } = await arrange(t)
  await request('POST', `/api/companies/${company.id}/archive`)
  assert.equal((await request('POST', route, formOf(PNG))).status, 422)
  assert.ok(!existsSync(path.join(app.config.dataDir, 'assets')))
})

test('unknown binary content has the type application/octet-stream', () => {
  assert.equal(contentTypeOf(Buffer.from('%PDF-1.7')), 'application/pdf')
  assert.equal(contentTypeOf(Buffer.from('hello')), 'text/plain; charset=utf-8')
  assert.equal(contentTypeOf(Buffer.from([0, 1, 2])), 'application/octet-stream')
  assert.equal(contentTypeOf(Buffer.from([0xff, 0xfe])), 'application/octet-stream')
})
