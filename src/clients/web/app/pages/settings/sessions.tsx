import { deviceOf } from '../../../../device.ts'
import { Button } from '../../kit/button.tsx'
import { confirm } from '../../kit/dialog.tsx'
import { plural } from '../../kit/format.ts'
import { Loaded, Skeleton } from '../../kit/states.tsx'
import { Ago } from '../../kit/time.tsx'
import { act } from '../../state/act.ts'
import { type Received, request } from '../../state/api.ts'
import { useQuery } from '../../state/query.ts'
import { toast } from '../../state/toasts.ts'

type Session = Received<'GET /api/auth/sessions'>[number]

/** The sessions of the person. */
export function Sessions() {
  const query = useQuery('sessions', () => request('GET /api/auth/sessions'))
  const end = async (one: Session) => {
    const params = { sessionId: one.id }
    if (!(await act(() => request('DELETE /api/auth/sessions/:sessionId', { params })))) return
    if (one.isCurrent) return location.assign('/login')
    toast(`${deviceOf(one.userAgent)} is signed out.`)
    void query.reload()
  }
  return (
    <section class="settings-part">
      <h2>Sessions</h2>
      <Loaded query={query} skeleton={<Skeleton rows={2} height={48} />}>
        {(list) => (
          <>
            <ul class="lines places-list">
              {list.map((one) => (
                <li key={one.id}>
                  <div class="place-main">
                    <b title={one.userAgent ?? undefined}>{deviceOf(one.userAgent)}</b>
                    <span class="note">
                      signed in <Ago at={one.createdAt} />, ends <Ago at={one.expiresAt} />
                    </span>
                  </div>
                  <span class="line-end">
                    {one.isCurrent ? (
                      <span class="tag">this browser</span>
                    ) : (
                      <Button kind="quiet" onClick={() => void end(one)}>
                        Sign out
                      </Button>
                    )}
                  </span>
                </li>
              ))}
            </ul>
            <div>
              <Button onClick={() => void signOutEverywhere(list.length)}>Sign out everywhere</Button>
            </div>
          </>
        )}
      </Loaded>
    </section>
  )
}

async function signOutEverywhere(count: number): Promise<void> {
  const isSure = await confirm({
    title: 'Sign out everywhere?',
    text: `This ends ${plural(count, 'session')}, including this one. Your tokens remain valid.`,
    action: 'Sign out everywhere',
  })
  if (isSure && (await act(() => request('POST /api/auth/sign-out-everywhere')))) location.assign('/login')
}
