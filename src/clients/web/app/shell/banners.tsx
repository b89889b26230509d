import pause from 'lucide-static/icons/circle-pause.svg'
import drive from 'lucide-static/icons/hard-drive.svg'
import octagon from 'lucide-static/icons/octagon-x.svg'
import snow from 'lucide-static/icons/snowflake.svg'
import unplug from 'lucide-static/icons/unplug.svg'
import { resumeCompany } from '../actions/stop.ts'
import { Button } from '../kit/button.tsx'
import { money } from '../kit/format.ts'
import { Icon } from '../kit/icon.tsx'
import { Ago } from '../kit/time.tsx'
import { act } from '../state/act.ts'
import { request } from '../state/api.ts'
import { companies, company, instance, isOperator, may, pathTo } from '../state/company.ts'
import { isDiskFull } from '../state/disk.ts'
import { connection } from '../state/live.ts'

/** The banners of every page. Each names a condition that blocks work and the action that removes it. */
export function Banners() {
  const found = company.value
  const frozen = instance.value?.isFrozen ? instance.value : undefined
  return (
    <div class="banners" role="status">
      {connection.value === 'offline' && (
        <div class="banner warn">
          <Icon svg={unplug} />
          <p>No connection to the server. What you see may be old; the page reconnects by itself.</p>
        </div>
      )}
      {instance.value?.isReadOnly && (
        <div class="banner warn">
          <Icon svg={snow} />
          <p>This is a backup. It is read-only, and no agent starts.</p>
        </div>
      )}
      {isDiskFull.value && (
        <div class="banner danger">
          <Icon svg={drive} />
          <p>The disk of the server is full, so changes cannot be saved. Stored data is safe. Free some disk space.</p>
        </div>
      )}
      {frozen && (
        <div class="banner danger">
          <Icon svg={snow} />
          <p>
            Everything is frozen
            {frozen.frozenAt && (
              <>
                {' '}
                since <Ago at={frozen.frozenAt} />
              </>
            )}
            : nothing starts in any company.
            {frozen.frozenBecause && ` ${frozen.frozenBecause}`}
          </p>
          {isOperator.value ? (
            <Button onClick={() => void thaw()}>Thaw</Button>
          ) : (
            <span>The operator of the server can thaw it.</span>
          )}
        </div>
      )}
      {found?.stoppedAt && (
        <div class="banner danger">
          <Icon svg={octagon} />
          <p>
            Stopped <Ago at={found.stoppedAt} />: nothing starts in this company.
          </p>
          {may('admin') ? (
            <Button onClick={() => void resumeCompany()}>Resume</Button>
          ) : (
            <span>An admin can resume it.</span>
          )}
        </div>
      )}
      {found?.status === 'paused' && (
        <div class="banner warn">
          <Icon svg={pause} />
          <p>
            {found.pauseReason === 'budget'
              ? `Paused: the company has spent ${money(found.spentMonthlyCents)} of its ${money(found.budgetMonthlyCents)} for this month.`
              : 'This company is paused. No run starts.'}
          </p>
          {found.pauseReason === 'budget' ? (
            <Button href={pathTo('costs')}>Raise the budget</Button>
          ) : (
            may('admin') && <Button onClick={() => void unpause(found.id)}>Resume</Button>
          )}
        </div>
      )}
    </div>
  )
}

async function thaw(): Promise<void> {
  const state = await act(() => request('POST /api/instance/thaw'))
  if (state) instance.value = state
}

async function unpause(companyId: string): Promise<void> {
  const changed = await act(() =>
    request('PATCH /api/companies/:companyId', { params: { companyId }, body: { status: 'active' } }),
  )
  if (changed) companies.put(changed)
}
