import { useSignal } from '@preact/signals'
import check from 'lucide-static/icons/check.svg'
import more from 'lucide-static/icons/ellipsis.svg'
import plus from 'lucide-static/icons/plus.svg'
import x from 'lucide-static/icons/x.svg'
import { Button } from '../../kit/button.tsx'
import { confirm } from '../../kit/dialog.tsx'
import { plural } from '../../kit/format.ts'
import { Icon } from '../../kit/icon.tsx'
import { Menu } from '../../kit/menu.tsx'
import { Empty, Loaded, Skeleton } from '../../kit/states.tsx'
import { act } from '../../state/act.ts'
import { type Received, request } from '../../state/api.ts'
import { useCommands } from '../../state/commands.ts'
import { isOperator } from '../../state/company.ts'
import { PLACEMENTS, type Placement, usePlacements } from '../../state/placements.ts'
import { invalidate } from '../../state/query.ts'
import { toast } from '../../state/toasts.ts'
import { SettingsPlace } from '../settings/place.tsx'
import { TYPES } from './fields.ts'
import { PlacementForm } from './placement-form.tsx'

/** The placements: where runs execute besides the machine of the server. */
export function PlacementsPage() {
  const form = useSignal<{ placement?: Placement } | undefined>(undefined)
  const query = usePlacements()
  const may = isOperator.value
  const open = (placement?: Placement) => {
    form.value = placement ? { placement } : {}
  }
  useCommands(
    may ? [{ id: 'placement.new', title: 'New placement', keys: 'n', group: 'Placements', run: () => open() }] : [],
  )
  return (
    <SettingsPlace
      here="placements"
      actions={
        may &&
        (query.data.value?.length ?? 0) > 0 && (
          <Button kind="primary" icon={plus} hint="n" onClick={() => open()}>
            New placement
          </Button>
        )
      }
    >
      <Loaded query={query} skeleton={<Skeleton rows={3} height={48} />}>
        {(placements) =>
          placements.length === 0 ? (
            <Empty
              title="All runs execute on the machine of the server."
              action={
                may && (
                  <Button kind="primary" hint="n" onClick={() => open()}>
                    Add a placement
                  </Button>
                )
              }
            >
              A placement is another machine or a cluster where runs execute. All companies of this server share it.
            </Empty>
          ) : (
            <ul class="lines places-list">
              {placements.map((placement) => (
                <PlacementLine key={placement.name} placement={placement} onChange={() => open(placement)} />
              ))}
            </ul>
          )
        }
      </Loaded>
      {!may && <p class="note">The operator of the server can add and change placements.</p>}
      {form.value && (
        <PlacementForm
          {...form.value}
          onClose={() => {
            form.value = undefined
          }}
        />
      )}
    </SettingsPlace>
  )
}

type Test = Received<'POST /api/placements/:placement/test'>

function PlacementLine({ placement, onChange }: { placement: Placement; onChange: () => void }) {
  const test = useSignal<Test | 'running' | undefined>(undefined)
  const { name, type, settings, maxRuns, liveRuns, isDefault } = placement
  const where = [TYPES[type], settings.host ?? settings.partition ?? settings.namespace].filter(Boolean).join(' · ')
  const run = async () => {
    test.value = 'running'
    test.value = await act(() => request('POST /api/placements/:placement/test', { params: { placement: name } }))
  }
  return (
    <li class="placement">
      <div class="place-main">
        <span>
          <b>{name}</b> {isDefault && <span class="tag">default</span>}
        </span>
        <span class="note clip">{where}</span>
      </div>
      <span class="line-end">
        <span class="note num">
          {liveRuns} of {plural(maxRuns, 'run')}
        </span>
        {isOperator.value && (
          <>
            <Button isDisabled={test.value === 'running'} onClick={() => void run()}>
              {test.value === 'running' ? 'Testing…' : 'Test'}
            </Button>
            <Menu
              label={`More actions: ${name}`}
              items={[
                { label: 'Change…', run: onChange },
                ...(isDefault ? [] : [{ label: 'Make it the default', run: () => void makeDefault(placement) }]),
                { label: 'Remove…', run: () => void remove(placement) },
              ]}
            >
              <Icon svg={more} />
            </Menu>
          </>
        )}
      </span>
      {typeof test.value === 'object' && <TestResult test={test.value} />}
    </li>
  )
}

function TestResult({ test }: { test: Test }) {
  return (
    <div class="checks" role="status">
      <ul aria-label="Result of the test">
        {test.checks.map(({ name, ok, message }) => (
          <li key={name} class={ok ? 'ok' : 'error'}>
            <Icon svg={ok ? check : x} size={14} label={ok ? 'passed' : 'failed'} />
            <b>{name}</b>
            <span>{message}</span>
          </li>
        ))}
      </ul>
    </div>
  )
}

async function makeDefault(placement: Placement): Promise<void> {
  const params = { placement: placement.name }
  if (await act(() => request('PATCH /api/placements/:placement', { params, body: { isDefault: true } }))) {
    toast(`Runs that name no placement execute in ${placement.name}.`)
  }
  invalidate(PLACEMENTS)
}

async function remove(placement: Placement): Promise<void> {
  const { name, liveRuns } = placement
  const isSure = await confirm({
    title: `Remove ${name}?`,
    text:
      liveRuns > 0
        ? `Its ${plural(liveRuns, 'live run')} will end as lost. Agents and projects that name it will wait.`
        : 'Agents and projects that name it will wait until they name another one.',
    action: 'Remove the placement',
  })
  if (!isSure) return
  await act(() =>
    request('DELETE /api/placements/:placement', { params: { placement: name }, query: { force: 'true' } }),
  )
  invalidate(PLACEMENTS)
}
