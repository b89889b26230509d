import { useSignal } from '@preact/signals'
import { Select, TextField } from '../../kit/field.tsx'
import { FormDialog } from '../../kit/form-dialog.tsx'
import { request } from '../../state/api.ts'
import { agents, companyIdNow, projects } from '../../state/company.ts'
import type { Project } from '../../state/types.ts'

const NOBODY = ''

/** The dialog that creates a project. */
export function NewProject({ onClose, onCreated }: { onClose: () => void; onCreated: (project: Project) => void }) {
  const fields = useSignal({ name: '', description: '', leadAgentId: NOBODY, cwd: '' })
  const set = (changed: Partial<typeof fields.value>) => {
    fields.value = { ...fields.peek(), ...changed }
  }
  const { name, description, leadAgentId, cwd } = fields.value
  return (
    <FormDialog
      title="New project"
      action="Create project"
      onClose={onClose}
      onSubmit={async () => {
        const project = await request('POST /api/companies/:companyId/projects', {
          params: { companyId: companyIdNow() },
          body: {
            name: name.trim(),
            description: description.trim() || null,
            leadAgentId: leadAgentId || null,
            ...(cwd.trim() && { workspace: { cwd: cwd.trim() } }),
          },
        })
        projects.put(project)
        onCreated(project)
      }}
    >
      <TextField label="Name" autoFocus isRequired value={name} onInput={(value) => set({ name: value })} />
      <TextField label="Description" rows={3} value={description} onInput={(value) => set({ description: value })} />
      <Select
        label="Lead"
        value={leadAgentId}
        options={[
          { value: NOBODY, label: 'Nobody' },
          ...agents.all.value
            .filter(({ status }) => status !== 'terminated')
            .map((agent) => ({ value: agent.id, label: agent.name })),
        ]}
        onChange={(value) => set({ leadAgentId: value })}
      />
      <TextField
        label="Folder"
        hint="The folder on the server's machine in which agents work. Without it, each agent uses its own folder."
        placeholder="/home/me/project"
        value={cwd}
        onInput={(value) => set({ cwd: value })}
      />
    </FormDialog>
  )
}
