import { useSignal } from '@preact/signals'
import plus from 'lucide-static/icons/plus.svg'
import { Avatar } from '../../kit/avatar.tsx'
import { Button } from '../../kit/button.tsx'
import { Copyable } from '../../kit/copyable.tsx'
import { confirm, Dialog } from '../../kit/dialog.tsx'
import { Select } from '../../kit/field.tsx'
import { words } from '../../kit/format.ts'
import { Picker } from '../../kit/menu.tsx'
import { Empty, Loaded, Skeleton } from '../../kit/states.tsx'
import { Ago } from '../../kit/time.tsx'
import { act } from '../../state/act.ts'
import { request } from '../../state/api.ts'
import { companyIdNow, loadAll, may, members, session } from '../../state/company.ts'
import { invalidate, useQuery } from '../../state/query.ts'
import type { Member } from '../../state/types.ts'
import { SettingsPlace } from '../settings/place.tsx'

const ROLES = ['viewer', 'member', 'admin', 'owner'] as const
type Role = (typeof ROLES)[number]

const MEANING: Record<Role, string> = {
  viewer: 'reads',
  member: 'works on issues',
  admin: 'runs the company',
  owner: 'may delete it',
}
const roleOptions = () => ROLES.map((value) => ({ value, label: words(value), note: MEANING[value] }))

/** The members of the company and the open invitations. */
export function MembersPage() {
  const isInviting = useSignal(false)
  const list = members.all.value
  const isLocal = session.value?.name === null
  const invitations = useQuery(
    may('admin') && !isLocal ? 'invitations' : undefined,
    () => request('GET /api/companies/:companyId/invitations', { params: { companyId: companyIdNow() } }),
    ({ type }) => type.startsWith('company.'),
  )
  const invite = may('admin') && !isLocal && (
    <Button
      kind="primary"
      icon={plus}
      onClick={() => {
        isInviting.value = true
      }}
    >
      Invite a person
    </Button>
  )
  return (
    <SettingsPlace here="members" actions={list.length > 0 && invite}>
      {list.length === 0 ? (
        <Empty title={isLocal ? 'You are the only person here.' : 'No members yet.'} action={invite}>
          {isLocal &&
            'This server runs in local mode: every user of this machine is the board. Start it with accounts to invite people.'}
        </Empty>
      ) : (
        <ul class="lines places-list">
          {list.map((member) => (
            <li key={member.userId}>
              <Avatar name={member.name} isPerson size={24} />
              <div class="place-main">
                <b>{member.name}</b>
                <span class="note">{member.email}</span>
              </div>
              <span class="line-end">
                <Picker
                  label={`Role: ${member.role}`}
                  options={roleOptions}
                  value={member.role}
                  isDisabled={!may('owner')}
                  onPick={(role) => void setRole(member, role)}
                >
                  <span class="tag">{words(member.role)}</span>
                </Picker>
                {(may('owner') || member.userId === session.value?.userId) && (
                  <Button kind="quiet" onClick={() => void remove(member)}>
                    {member.userId === session.value?.userId ? 'Leave' : 'Remove'}
                  </Button>
                )}
              </span>
            </li>
          ))}
        </ul>
      )}
      {may('admin') && !isLocal && (
        <Loaded query={invitations} skeleton={<Skeleton rows={2} height={44} />}>
          {(all) => {
            const open = all.filter(({ status }) => status === 'open')
            if (open.length === 0) return null
            return (
              <section class="settings-part">
                <h2>Open invitations</h2>
                <ul class="lines places-list">
                  {open.map((one) => (
                    <li key={one.id}>
                      <div class="place-main">
                        <b>{words(one.role)}</b>
                        <span class="note">
                          ends <Ago at={one.expiresAt} />
                        </span>
                      </div>
                      <span class="line-end">
                        <Button kind="quiet" onClick={() => void revoke(one.id)}>
                          Revoke
                        </Button>
                      </span>
                    </li>
                  ))}
                </ul>
              </section>
            )
          }}
        </Loaded>
      )}
      {!may('owner') && list.length > 0 && <p class="note">An owner can change roles.</p>}
      {isInviting.value && (
        <Invite
          onClose={() => {
            isInviting.value = false
          }}
        />
      )}
    </SettingsPlace>
  )
}

async function setRole(member: Member, role: Role): Promise<void> {
  const params = { companyId: companyIdNow(), userId: member.userId }
  const saved = await act(
    () => request('PATCH /api/companies/:companyId/members/:userId', { params, body: { role } }),
    () => members.patch(member.userId, { role }),
  )
  if (saved) members.put({ ...saved, id: saved.userId })
}

async function remove(member: Member): Promise<void> {
  const isSure = await confirm({
    title: `Remove ${member.name}?`,
    text: 'They lose access immediately. Their comments are kept.',
    action: 'Remove',
  })
  if (!isSure) return
  const params = { companyId: companyIdNow(), userId: member.userId }
  if (await act(() => request('DELETE /api/companies/:companyId/members/:userId', { params }))) void loadAll()
}

async function revoke(invitationId: string): Promise<void> {
  const params = { companyId: companyIdNow(), invitationId }
  await act(() => request('DELETE /api/companies/:companyId/invitations/:invitationId', { params }))
  invalidate('invitations')
}

/** Creates an invitation link for one person. Only this dialog displays it. */
function Invite({ onClose }: { onClose: () => void }) {
  const role = useSignal<Role>('member')
  const url = useSignal<string | undefined>(undefined)
  const create = async () => {
    const made = await act(() =>
      request('POST /api/companies/:companyId/invitations', {
        params: { companyId: companyIdNow() },
        body: { role: role.peek() },
      }),
    )
    if (!made) return
    url.value = made.url
    invalidate('invitations')
  }
  return (
    <Dialog
      title="Invite a person"
      onClose={onClose}
      actions={
        url.value ? (
          <Button kind="primary" onClick={onClose}>
            Done
          </Button>
        ) : (
          <>
            <Button onClick={onClose}>Cancel</Button>
            <Button kind="primary" onClick={() => void create()}>
              Create the link
            </Button>
          </>
        )
      }
    >
      <div class="dialog-body form">
        {url.value ? (
          <>
            <p>Send this link to the person. It works once and is displayed only now.</p>
            <Copyable text={url.value} />
          </>
        ) : (
          <Select
            label="Role"
            value={role.value}
            options={ROLES.map((value) => ({ value, label: `${words(value)}: ${MEANING[value]}` }))}
            onChange={(value) => {
              role.value = value
            }}
          />
        )}
      </div>
    </Dialog>
  )
}
