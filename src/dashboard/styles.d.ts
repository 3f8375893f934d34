// Style sheets that the bundler puts into app.css.
declare module '*.css'
