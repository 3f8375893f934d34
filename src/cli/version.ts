// The package's version, put in by the bundler; a run from source says so.

declare const __KEELSON_VERSION__: string | undefined

export const version = typeof __KEELSON_VERSION__ === 'string' ? __KEELSON_VERSION__ : '0.0.0-source'
