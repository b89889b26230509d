import type { FolderRequest } from '../work/approval/folder.ts'

/** Why a run cannot be started; it becomes the run's error. */
export class NotStartable extends Error {
  readonly code: string
  /** The folders that the board would have to allow. */
  readonly folders: readonly FolderRequest[]
  constructor(code: string, message: string, folders: readonly FolderRequest[] = []) {
    super(message)
    this.code = code
    this.folders = folders
  }
}

/** Records a problem that prevents a run. The plan continues, so that it reports every problem at once. */
export type Refuse = (code: string, message: string, folders?: readonly FolderRequest[]) => void
