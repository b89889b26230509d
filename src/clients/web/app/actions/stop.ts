import { confirm } from '../kit/dialog.tsx'
import { plural } from '../kit/format.ts'
import { act } from '../state/act.ts'
import { request } from '../state/api.ts'
import { companies, company, issues, liveRuns } from '../state/company.ts'
import { toast } from '../state/toasts.ts'

/** Asks for confirmation, then stops all runs of the company and blocks new ones. */
export async function stopEverything(): Promise<void> {
  const found = company.peek()
  if (!found) return
  const runs = liveRuns.peek()
  const held = issues.all.peek().filter(({ status }) => status === 'in_progress').length
  const isSure = await confirm({
    title: `Stop ${found.name}?`,
    text: `This ends ${plural(runs.length, 'live run')} and lets nothing start until you resume.${
      held > 0 ? ' Issues in progress stay with their assignees.' : ''
    }`,
    action: 'Stop everything',
  })
  if (!isSure) return
  await act(() => request('POST /api/companies/:companyId/stop', { params: { companyId: found.id } }))
  companies.put(await request('GET /api/companies/:companyId', { params: { companyId: found.id } }))
}

/** Lifts the emergency stop of a company. */
export async function resumeCompany(): Promise<void> {
  const companyId = company.peek()!.id
  await act(() => request('POST /api/companies/:companyId/thaw', { params: { companyId } }))
  companies.put(await request('GET /api/companies/:companyId', { params: { companyId } }))
  toast('The company can run again.')
}
