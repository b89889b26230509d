import { useSignal } from '@preact/signals'
import arrowLeft from 'lucide-static/icons/chevron-left.svg'
import { Button } from '../../kit/button.tsx'
import { Select, TextField } from '../../kit/field.tsx'
import { plural, words } from '../../kit/format.ts'
import { Page } from '../../kit/page.tsx'
import { reasonOf } from '../../state/act.ts'
import { type Received, request, type Sent } from '../../state/api.ts'
import { company, companyIdNow, loadAll, may, pathTo } from '../../state/company.ts'
import { useQuery } from '../../state/query.ts'
import { toast } from '../../state/toasts.ts'
import type { Template } from '../../state/types.ts'
import { Warnings } from './warnings.tsx'

type Preview = Received<'POST /api/companies/:companyId/imports/preview'>
type Body = Sent<'POST /api/companies/:companyId/imports/preview'>['body']

const KINDS = { template: 'A template', repository: 'A repository', file: 'A file' }
type Kind = keyof typeof KINDS

const aboutTemplate = (template: Template | undefined) =>
  template &&
  `${template.agents.map((agent) => agent.title ?? agent.role).join(', ')}; ${plural(template.issues, 'issue')}`

/** Imports a package: a preview of the changes, then the import of exactly that plan. */
export function ImportPage() {
  const kind = useSignal<Kind>('template')
  const templates = useQuery('templates', () => request('GET /api/templates'))
  const source = useSignal('')
  const template = useSignal<string | undefined>(undefined)
  const chosenTemplate = template.value ?? templates.data.value?.[0]?.name
  const file = useSignal<{ name: string; files: Record<string, never> } | undefined>(undefined)
  const collision = useSignal<'rename' | 'skip'>('rename')
  const preview = useSignal<Preview | undefined>(undefined)
  const error = useSignal<string | undefined>(undefined)
  const isBusy = useSignal(false)
  const bodyOf = (): Body => {
    const text = source.peek().trim()
    return {
      source:
        kind.peek() === 'file'
          ? { type: 'inline', files: file.peek()!.files }
          : kind.peek() === 'template'
            ? { type: 'template', name: chosenTemplate! }
            : /^https:\/\/github\.com\//.test(text)
              ? { type: 'github', url: text }
              : { type: 'git', url: text },
      target: { mode: 'existing_company', companyId: companyIdNow() },
      collisionStrategy: collision.peek(),
    }
  }
  const send = async (work: () => Promise<void>) => {
    isBusy.value = true
    error.value = undefined
    try {
      await work()
    } catch (thrown) {
      error.value = reasonOf(thrown)
    }
    isBusy.value = false
  }
  const isComplete =
    kind.value === 'template' ? chosenTemplate : kind.value === 'file' ? file.value : source.value.trim()
  const params = { companyId: companyIdNow() }
  const look = () =>
    send(async () => {
      preview.value = await request('POST /api/companies/:companyId/imports/preview', { params, body: bodyOf() })
    })
  const apply = () =>
    send(async () => {
      const done = await request('POST /api/companies/:companyId/imports/apply', {
        params,
        body: { ...bodyOf(), planHash: preview.peek()!.planHash },
      })
      preview.value = undefined
      toast(`${plural(done.counts.create + done.counts.rename, 'thing')} imported.`)
      void loadAll()
    })
  const open = async (chosen: File | undefined) => {
    preview.value = undefined
    if (!chosen) return
    await send(async () => {
      const found = JSON.parse(await chosen.text()) as { files?: Record<string, never> }
      if (!found.files) throw new Error(`${chosen.name} is no package: it has no files.`)
      file.value = { name: chosen.name, files: found.files }
    })
  }
  return (
    <Page
      title="Import"
      layout="narrow"
      trail={<Button kind="quiet" icon={arrowLeft} label="Back to the settings" href={pathTo('settings')} />}
    >
      {may('admin') ? (
        <div class="form">
          <div class="tabs" role="tablist" aria-label="Source of the package">
            {(Object.keys(KINDS) as Kind[]).map((one) => (
              <button
                key={one}
                type="button"
                role="tab"
                aria-selected={kind.value === one}
                onClick={() => {
                  kind.value = one
                  preview.value = undefined
                }}
              >
                {KINDS[one]}
              </button>
            ))}
          </div>
          {kind.value === 'template' && (
            <Select
              label="Template"
              hint={aboutTemplate(templates.data.value?.find(({ name }) => name === chosenTemplate))}
              value={chosenTemplate ?? ''}
              options={(templates.data.value ?? []).map(({ name, title }) => ({ value: name, label: title }))}
              onChange={(value) => {
                template.value = value
                preview.value = undefined
              }}
            />
          )}
          {kind.value === 'repository' && (
            <TextField
              label="Address"
              hint="A repository on GitHub, or the address of another Git repository."
              placeholder="https://github.com/owner/company"
              value={source.value}
              onInput={(value) => {
                source.value = value
                preview.value = undefined
              }}
            />
          )}
          {kind.value === 'file' && (
            <div class="settings-row">
              <label class="button">
                {file.value ? 'Choose another file' : 'Choose an exported file'}
                <input
                  type="file"
                  class="hidden"
                  accept="application/json"
                  onChange={(event) => void open(event.currentTarget.files?.[0])}
                />
              </label>
              <span class="note">
                {file.value
                  ? `${file.value.name}: ${plural(Object.keys(file.value.files).length, 'file')}`
                  : 'The JSON file from the Export page.'}
              </span>
            </div>
          )}
          <Select
            label="If a name exists"
            value={collision.value}
            options={[
              { value: 'rename', label: 'Import under another name' },
              { value: 'skip', label: 'Skip it' },
            ]}
            onChange={(value) => {
              collision.value = value
              preview.value = undefined
            }}
          />
          {error.value && (
            <p class="error" role="alert">
              {error.value}
            </p>
          )}
          <div class="form-end">
            <Button
              kind={preview.value ? 'plain' : 'primary'}
              isDisabled={isBusy.value || !isComplete}
              onClick={() => void look()}
            >
              Preview
            </Button>
          </div>
          {preview.value && <Plan preview={preview.value} isBusy={isBusy.value} onApply={() => void apply()} />}
        </div>
      ) : (
        <p>An admin can import a package.</p>
      )}
    </Page>
  )
}

function Plan({ preview, isBusy, onApply }: { preview: Preview; isBusy: boolean; onApply: () => void }) {
  const kinds = Map.groupBy(preview.entities, ({ kind }) => kind)
  const { create, rename, skip } = preview.counts
  return (
    <section aria-label="Preview">
      <div class="section-head">
        <h2>
          {preview.package.name ?? 'The package'} into {company.value?.name}
        </h2>
        <span class="num">
          {create} new, {rename} renamed, {skip} left out
        </span>
      </div>
      <Warnings list={preview.warnings} />
      {[...kinds].map(([kind, list]) => (
        <details key={kind} class="plan" open={list.length <= 12}>
          <summary>
            {words(kind)} <span class="note">{list.length}</span>
          </summary>
          <ul class="lines">
            {list.map((one) => (
              <li key={`${one.kind}/${one.slug}`}>
                <span class={`tag plan-${one.action}`}>{ACTION[one.action]}</span>
                <span class="clip">{one.as}</span>
                <span class="line-end note clip">{one.action === 'create' ? one.path : one.reason}</span>
              </li>
            ))}
          </ul>
        </details>
      ))}
      <div class="form-end">
        <Button kind="primary" isDisabled={isBusy || create + rename === 0} onClick={onApply}>
          Import {plural(create + rename, 'thing')}
        </Button>
      </div>
    </section>
  )
}

const ACTION = { create: 'new', rename: 'renamed', skip: 'left out' } as const
