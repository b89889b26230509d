import { useSignal } from '@preact/signals'
import arrowLeft from 'lucide-static/icons/chevron-left.svg'
import { Button } from '../../kit/button.tsx'
import { Checkbox } from '../../kit/field.tsx'
import { plural, size, words } from '../../kit/format.ts'
import { Page } from '../../kit/page.tsx'
import { Loaded, Skeleton } from '../../kit/states.tsx'
import { act } from '../../state/act.ts'
import { request } from '../../state/api.ts'
import { companyIdNow, pathTo } from '../../state/company.ts'
import { useQuery } from '../../state/query.ts'
import { Warnings } from './warnings.tsx'

const PARTS = ['company', 'agents', 'projects', 'issues'] as const

/** Exports the company as a package: a preview of the content, and the download. */
export function ExportPage() {
  const include = useSignal({ company: true, agents: true, projects: true, issues: true })
  const chosen = PARTS.filter((part) => include.value[part])
  const query = useQuery(`export/${chosen.join()}`, () =>
    request('POST /api/companies/:companyId/exports/preview', {
      params: { companyId: companyIdNow() },
      body: { include: include.value },
    }),
  )
  const download = async () => {
    const made = await act(() =>
      request('POST /api/companies/:companyId/exports', {
        params: { companyId: companyIdNow() },
        body: { include: include.peek() },
      }),
    )
    if (!made) return
    const link = document.createElement('a')
    link.href = URL.createObjectURL(new Blob([JSON.stringify(made, null, 2)], { type: 'application/json' }))
    link.download = `${made.rootPath}.json`
    link.click()
    URL.revokeObjectURL(link.href)
  }
  return (
    <Page
      title="Export"
      layout="narrow"
      trail={<Button kind="quiet" icon={arrowLeft} label="Back to the settings" href={pathTo('settings')} />}
      actions={
        <Button kind="primary" onClick={() => void download()}>
          Download the package
        </Button>
      }
    >
      <div class="form">
        <div class="settings-row" role="group" aria-label="What to include">
          {PARTS.map((part) => (
            <Checkbox
              key={part}
              label={words(part)}
              isChecked={include.value[part]}
              onChange={(isChecked) => {
                include.value = { ...include.peek(), [part]: isChecked }
              }}
            />
          ))}
        </div>
        <Loaded query={query} skeleton={<Skeleton rows={10} height={28} />}>
          {({ fileInventory, counts, warnings }) => (
            <section>
              <Warnings list={warnings} />
              <div class="section-head">
                <h2>{plural(counts.files, 'file')}</h2>
                <span class="num">{size(fileInventory.reduce((sum, { bytes }) => sum + bytes, 0))}</span>
              </div>
              <ul class="lines package-files">
                {fileInventory.map(({ path, bytes, reason }) => (
                  <li key={path} title={reason}>
                    <code class="clip">{path}</code>
                    <span class="line-end note num">{size(bytes)}</span>
                  </li>
                ))}
              </ul>
            </section>
          )}
        </Loaded>
      </div>
    </Page>
  )
}
