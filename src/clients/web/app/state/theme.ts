export type Theme = 'system' | 'light' | 'dark'

export const THEMES = [
  { value: 'system', label: 'System' },
  { value: 'light', label: 'Light' },
  { value: 'dark', label: 'Dark' },
] as const

/** The theme that the person selected in this browser. */
export const theme = (): Theme => (localStorage.getItem('theme') as Theme | null) ?? 'system'

export function setTheme(chosen: Theme): void {
  localStorage.setItem('theme', chosen)
  applyTheme()
}

export function applyTheme(): void {
  document.documentElement.dataset.theme = theme()
}
