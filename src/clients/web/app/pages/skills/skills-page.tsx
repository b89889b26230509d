import { useSignal } from '@preact/signals'
import plus from 'lucide-static/icons/plus.svg'
import { Button } from '../../kit/button.tsx'
import { confirm } from '../../kit/dialog.tsx'
import { TextField } from '../../kit/field.tsx'
import { FormDialog } from '../../kit/form-dialog.tsx'
import { plural, words } from '../../kit/format.ts'
import { Empty, Loaded, Skeleton } from '../../kit/states.tsx'
import { act } from '../../state/act.ts'
import { type Received, request } from '../../state/api.ts'
import { companyIdNow, may } from '../../state/company.ts'
import { invalidate, useQuery } from '../../state/query.ts'
import { toast } from '../../state/toasts.ts'
import { SettingsPlace } from '../settings/place.tsx'

type Skill = Received<'GET /api/companies/:companyId/skills'>[number]

/** The skills of the company: instructions with files, and their sources. */
export function SkillsPage() {
  const isOpen = useSignal(false)
  const open = () => {
    isOpen.value = true
  }
  const query = useQuery(
    'skills',
    () => request('GET /api/companies/:companyId/skills', { params: { companyId: companyIdNow() } }),
    ({ data }) => data.entityType === 'skill',
  )
  return (
    <SettingsPlace
      here="skills"
      actions={
        may('admin') && (
          <Button kind="primary" icon={plus} onClick={open}>
            Import skills
          </Button>
        )
      }
    >
      <Loaded query={query} skeleton={<Skeleton rows={4} height={44} />}>
        {(skills) =>
          skills.length === 0 ? (
            <Empty title="No skills yet." action={may('admin') && <Button onClick={open}>Import skills</Button>} />
          ) : (
            <ul class="lines places-list">
              {skills.map((skill) => (
                <li key={skill.id}>
                  <div class="place-main">
                    <b>{skill.name}</b>
                    <span class="note">{skill.description}</span>
                  </div>
                  <span class="line-end">
                    <span class="note" title={skill.fileInventory.map(({ path }) => path).join('\n')}>
                      {plural(skill.fileInventory.length, 'file')} · {words(skill.sourceType).toLowerCase()}
                    </span>
                    {skill.trustLevel === 'scripts_executables' && <span class="tag">runs scripts</span>}
                    {may('admin') && skill.sourceType !== 'bundled' && (
                      <Button kind="quiet" onClick={() => void remove(skill)}>
                        Delete
                      </Button>
                    )}
                  </span>
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
      {isOpen.value && (
        <Import
          onClose={() => {
            isOpen.value = false
          }}
        />
      )}
    </SettingsPlace>
  )
}

async function remove(skill: Skill): Promise<void> {
  const found = await act(() => request('GET /api/skills/:skillId', { params: { skillId: skill.id } }))
  if (!found) return
  const isSure = await confirm({
    title: `Delete the skill ${skill.name}?`,
    text: `This deletes its ${plural(skill.fileInventory.length, 'file')} and removes it from ${plural(found.usedByAgents.length, 'agent')}.`,
    action: 'Delete the skill',
  })
  if (!isSure) return
  await act(() => request('DELETE /api/skills/:skillId', { params: { skillId: skill.id } }))
  invalidate('skills')
}

function Import({ onClose }: { onClose: () => void }) {
  const source = useSignal('')
  return (
    <FormDialog
      title="Import skills"
      action="Import"
      onClose={onClose}
      onSubmit={async () => {
        const text = source.peek().trim()
        const { imported, warnings } = await request('POST /api/companies/:companyId/skills/import', {
          params: { companyId: companyIdNow() },
          body: /^https?:/.test(text) ? { source: { type: 'github', url: text } } : { path: text },
        })
        invalidate('skills')
        toast(`${plural(imported.length, 'skill')} imported.${warnings.length > 0 ? ` ${warnings.join(' ')}` : ''}`)
      }}
    >
      <TextField
        label="Repository or folder"
        hint="A public repository on GitHub, or a folder on the server's machine. Each folder with a SKILL.md becomes a skill."
        placeholder="https://github.com/owner/skills"
        autoFocus
        isRequired
        value={source.value}
        onInput={(text) => {
          source.value = text
        }}
      />
    </FormDialog>
  )
}
