import { useSignal } from '@preact/signals'
import { useLocation } from 'preact-iso'
import { stopEverything } from '../../actions/stop.ts'
import { Button } from '../../kit/button.tsx'
import { CompanyMark } from '../../kit/company-mark.tsx'
import { confirm } from '../../kit/dialog.tsx'
import { Checkbox, Select, TextField } from '../../kit/field.tsx'
import { FormDialog } from '../../kit/form-dialog.tsx'
import { plural } from '../../kit/format.ts'
import { act } from '../../state/act.ts'
import { request } from '../../state/api.ts'
import { agents, companies, company, liveRuns, may, pathTo } from '../../state/company.ts'
import { canNotify, isNotifying, setNotifying } from '../../state/notify.ts'
import { setTheme, THEMES, type Theme, theme } from '../../state/theme.ts'
import { toast } from '../../state/toasts.ts'
import type { Company } from '../../state/types.ts'
import { Budget } from '../costs/budget.tsx'
import { Labels } from '../labels/labels.tsx'
import { Account } from './account.tsx'
import { SettingsPlace } from './place.tsx'

/** The settings of the company: name, logo, approvals and irreversible actions. */
export function SettingsPage() {
  const found = company.value
  if (!found) return null
  return (
    <SettingsPlace here="settings">
      <Identity key={found.id} found={found} />
      <section class="settings-part">
        <h2>Rules</h2>
        <Checkbox
          label="New agents need the approval of the board"
          hint="An admin decides each hire under Approvals."
          isChecked={found.requireBoardApprovalForNewAgents}
          isDisabled={!may('admin')}
          onChange={(requireBoardApprovalForNewAgents) => void save(found, { requireBoardApprovalForNewAgents })}
        />
        <p>
          Monthly budget:{' '}
          <Budget
            label={found.name}
            cents={found.budgetMonthlyCents}
            onSave={(budgetMonthlyCents) => void save(found, { budgetMonthlyCents })}
          />
        </p>
      </section>
      <Labels />
      <Appearance />
      <Account />
      <section class="settings-part">
        <h2>Package</h2>
        <p class="note">
          A package contains the company as files: agents, goals, projects, issues, routines and skills.
        </p>
        <div class="settings-row">
          <Button href={pathTo('export')}>Export this company</Button>
          {may('admin') && <Button href={pathTo('import')}>Import a package</Button>}
        </div>
      </section>
      {may('admin') ? <Danger found={found} /> : <p class="note">An admin can change these settings.</p>}
    </SettingsPlace>
  )
}

async function save(
  found: Company,
  body: { requireBoardApprovalForNewAgents?: boolean; budgetMonthlyCents?: number },
): Promise<boolean> {
  const saved = await act(
    () => request('PATCH /api/companies/:companyId', { params: { companyId: found.id }, body }),
    () => companies.patch(found.id, body),
  )
  if (saved) companies.put(saved)
  return saved !== undefined
}

function Identity({ found }: { found: Company }) {
  const name = useSignal(found.name)
  const description = useSignal(found.description ?? '')
  const color = useSignal(found.brandColor ?? '')
  const isFixed = !may('admin')
  const isChanged =
    name.value !== found.name ||
    description.value !== (found.description ?? '') ||
    color.value !== (found.brandColor ?? '')
  const submit = async () => {
    const saved = await act(() =>
      request('PATCH /api/companies/:companyId/branding', {
        params: { companyId: found.id },
        body: {
          name: name.peek().trim(),
          description: description.peek().trim() || null,
          brandColor: color.peek().trim() || null,
        },
      }),
    )
    if (!saved) return
    companies.put(saved)
    toast('The settings were saved.')
  }
  return (
    <form
      class="settings-part form"
      onSubmit={(event) => {
        event.preventDefault()
        void submit()
      }}
    >
      <h2>Company</h2>
      <div class="settings-row">
        <span class="settings-mark">
          <CompanyMark name={found.name} logoUrl={found.logoUrl} color={found.brandColor} />
        </span>
        {!isFixed && (
          <>
            <label class="button">
              Upload a logo
              <input
                type="file"
                class="hidden"
                accept="image/png,image/jpeg,image/webp,image/gif"
                onChange={(event) => void upload(found, event.currentTarget.files?.[0])}
              />
            </label>
            {found.logoAssetId && (
              <Button kind="quiet" onClick={() => void setLogo(found, null)}>
                Remove it
              </Button>
            )}
          </>
        )}
      </div>
      <TextField
        label="Name"
        isDisabled={isFixed}
        value={name.value}
        onInput={(value) => {
          name.value = value
        }}
      />
      <TextField
        label="Description"
        rows={3}
        isDisabled={isFixed}
        value={description.value}
        onInput={(value) => {
          description.value = value
        }}
      />
      <TextField
        label="Color"
        placeholder="#4251c5"
        hint="The background of the first letter if there is no logo."
        isDisabled={isFixed}
        value={color.value}
        onInput={(value) => {
          color.value = value
        }}
      />
      {isChanged && (
        <div class="form-end">
          <Button kind="primary" type="submit">
            Save
          </Button>
        </div>
      )}
    </form>
  )
}

async function upload(found: Company, file: File | undefined): Promise<void> {
  if (!file) return
  const body = new FormData()
  body.set('file', file)
  const asset = await act(() =>
    request('POST /api/companies/:companyId/logo', { params: { companyId: found.id }, body }),
  )
  if (asset) await setLogo(found, asset.assetId)
}

async function setLogo(found: Company, logoAssetId: string | null): Promise<void> {
  const saved = await act(() =>
    request('PATCH /api/companies/:companyId/branding', { params: { companyId: found.id }, body: { logoAssetId } }),
  )
  if (saved) companies.put(saved)
}

function Appearance() {
  const chosen = useSignal<Theme>(theme())
  return (
    <section class="settings-part">
      <h2>This browser</h2>
      <Select
        label="Theme"
        value={chosen.value}
        options={THEMES}
        onChange={(value) => {
          chosen.value = value
          setTheme(value)
        }}
      />
      <Checkbox
        label="Notify me in this browser"
        hint="For new inbox items while no tab of this page is visible."
        isChecked={isNotifying.value}
        isDisabled={!canNotify()}
        onChange={(isOn) => void setNotifying(isOn)}
      />
    </section>
  )
}

function Danger({ found }: { found: Company }) {
  const { route } = useLocation()
  const isDeleting = useSignal(false)
  const typed = useSignal('')
  const archive = async () => {
    const isSure = await confirm({
      title: `Archive ${found.name}?`,
      text: `This stops ${plural(liveRuns.peek().length, 'run')} and ${plural(agents.all.peek().length, 'agent')}. The company becomes read-only.`,
      action: 'Archive the company',
    })
    if (!isSure) return
    const saved = await act(() =>
      request('POST /api/companies/:companyId/archive', { params: { companyId: found.id } }),
    )
    if (saved) companies.put(saved)
  }
  return (
    <section class="settings-part danger-zone">
      <h2>Danger zone</h2>
      <ul class="lines">
        <li>
          <span>Stop all runs and block new ones</span>
          <span class="line-end">
            <Button isDisabled={found.stoppedAt !== null} onClick={() => void stopEverything()}>
              Stop everything
            </Button>
          </span>
        </li>
        <li>
          <span>Archive the company: it becomes read-only, and no run starts</span>
          <span class="line-end">
            <Button isDisabled={found.status === 'archived'} onClick={() => void archive()}>
              Archive
            </Button>
          </span>
        </li>
        <li>
          <span>Delete the company and all its data</span>
          <span class="line-end">
            {may('owner') ? (
              <Button
                kind="danger"
                onClick={() => {
                  isDeleting.value = true
                }}
              >
                Delete
              </Button>
            ) : (
              <span class="note">An owner can delete it.</span>
            )}
          </span>
        </li>
      </ul>
      {isDeleting.value && (
        <FormDialog
          title={`Delete ${found.name}?`}
          action="Delete the company"
          tone="danger"
          onClose={() => {
            isDeleting.value = false
          }}
          onSubmit={async () => {
            if (typed.peek() !== found.name) throw new Error(`Type ${found.name} to confirm.`)
            await request('DELETE /api/companies/:companyId', { params: { companyId: found.id } })
            companies.remove(found.id)
            route('/')
          }}
        >
          <p>
            This deletes {plural(agents.all.value.length, 'agent')} and {plural(found.issueCounter, 'issue')} with their
            runs, comments and costs. It cannot be undone.
          </p>
          <TextField
            label={`Type “${found.name}” to confirm`}
            autoFocus
            value={typed.value}
            onInput={(value) => {
              typed.value = value
            }}
          />
        </FormDialog>
      )}
    </section>
  )
}
