import { computed, type ReadonlySignal, type Signal, signal } from '@preact/signals'

/** Rows of one type by id. Each row is a signal, so a change renders only the components that use the row. */
export interface Collection<T extends { id: string }> {
  /** Returns the signal of a row. Its value is undefined until the row is loaded. */
  row(id: string): Signal<T | undefined>
  get(id: string | null | undefined): T | undefined
  /** All rows in order of arrival. It changes when any row changes. */
  all: ReadonlySignal<readonly T[]>
  put(...rows: readonly T[]): void
  /** Changes some fields of a row, if it is loaded. @returns a function that reverts the change */
  patch(id: string, fields: Partial<T>): () => void
  remove(id: string): void
  clear(): void
}

export function createCollection<T extends { id: string }>(): Collection<T> {
  const rows = new Map<string, Signal<T | undefined>>()
  const keys = signal(0)
  const row = (id: string) => {
    let found = rows.get(id)
    if (!found) {
      found = signal(undefined)
      rows.set(id, found)
    }
    return found
  }
  const collection: Collection<T> = {
    row,
    get: (id) => (id ? row(id).value : undefined),
    all: computed(() => {
      keys.value
      return [...rows.values()].flatMap((one) => one.value ?? [])
    }),
    put(...items) {
      let isNew = false
      for (const item of items) {
        const target = row(item.id)
        isNew ||= target.peek() === undefined
        target.value = item
      }
      if (isNew) keys.value++
    },
    patch(id, fields) {
      const target = row(id)
      const before = target.peek()
      if (!before) return () => {}
      target.value = { ...before, ...fields }
      return () => {
        const now = target.peek()
        if (!now) return
        const restored = Object.fromEntries(Object.keys(fields).map((key) => [key, before[key as keyof T]]))
        target.value = { ...now, ...restored }
      }
    },
    remove(id) {
      row(id).value = undefined
      keys.value++
    },
    clear() {
      rows.clear()
      keys.value++
    },
  }
  return collection
}
