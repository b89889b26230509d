import { signal } from '@preact/signals'
import { type Command, currentCommands } from './commands.ts'
import type { Agent, Issue, Label } from './types.ts'

/**
 * The dialogs that every page can open. Their code loads after the first view
 * (`shell/dialogs.tsx`). A dialog that is opened earlier appears when it is loaded.
 */

/** The values that a new issue starts with. */
export interface IssueDraft {
  status?: Issue['status']
  assignee?: string | undefined
  projectId?: string | undefined
  goalId?: string | undefined
  parentId?: string
}

export const issueDraft = signal<IssueDraft | undefined>(undefined)

/** Opens the dialog that creates an issue. */
export const openNewIssue = (draft: IssueDraft) => {
  issueDraft.value = draft
}

export const isHiring = signal(false)

/** Opens the dialog that hires an agent. */
export const openNewAgent = () => {
  isHiring.value = true
}

export interface OpenedLabel {
  /** The label to change. Without it, the dialog creates a label. */
  label?: Label
  onSaved?: ((label: Label) => unknown) | undefined
}

export const openedLabel = signal<OpenedLabel | undefined>(undefined)

export const openNewLabel = (onSaved?: (label: Label) => unknown) => {
  openedLabel.value = { onSaved }
}

export const openLabel = (label: Label) => {
  openedLabel.value = { label }
}

export const rehearsed = signal<Agent | undefined>(undefined)

/** Displays the next run of an agent without starting it. */
export const openRehearsal = (agent: Agent) => {
  rehearsed.value = agent
}

export const isPaletteOpen = signal(false)

export const openPalette = () => {
  isPaletteOpen.value = true
}

/** The commands whose keys the help displays. */
export const explained = signal<readonly Command[] | undefined>(undefined)

/** Displays the shortcuts of the page. */
export const showKeys = () => {
  explained.value = currentCommands()
}
