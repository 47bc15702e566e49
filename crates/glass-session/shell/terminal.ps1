# Untested, and used by no session yet. Tells the terminal what PowerShell does;
# read with `-NoExit -Command`. $GlassNonce is set before it.

$Global:__GlassNonce = $GlassNonce
Remove-Variable GlassNonce -ErrorAction SilentlyContinue
$Global:__GlassPrompt = $function:prompt
$Global:__GlassLast = -1
$Global:__GlassRan = $false

function Global:__Glass-Escape([string]$Value) {
    [regex]::Replace($Value, '[\\;\x00-\x1f\x7f]', {
            param($Found)
            if ($Found.Value -eq '\') { '\\' } else { '\x{0:x2}' -f [int][char]$Found.Value }
        })
}

function Global:__Glass-Mark([string]$Body) {
    [Console]::Write("$([char]0x1b)]633;$Body;$Global:__GlassNonce$([char]0x07)")
}

function Global:prompt {
    $Succeeded = $?
    $Code = $Global:LASTEXITCODE
    $Entry = Get-History -Count 1
    if ($Global:__GlassRan) {
        $Global:__GlassRan = $false
        $Told = if ($Succeeded) { 0 } elseif ($Code) { $Code } else { 1 }
        __Glass-Mark "P;Cwd=$(__Glass-Escape $executionContext.SessionState.Path.CurrentLocation.ProviderPath)"
        __Glass-Mark "D;$Told"
    }
    if ($Entry) { $Global:__GlassLast = $Entry.Id }
    __Glass-Mark 'A'
    $Global:LASTEXITCODE = $Code
    & $Global:__GlassPrompt
}

if (Get-Command PSConsoleHostReadLine -ErrorAction SilentlyContinue) {
    $Global:__GlassReadLine = $function:PSConsoleHostReadLine
    function Global:PSConsoleHostReadLine {
        $Line = & $Global:__GlassReadLine
        if ($Line.Trim()) {
            $Global:__GlassRan = $true
            __Glass-Mark "E;$(__Glass-Escape $Line)"
            __Glass-Mark 'C'
        }
        $Line
    }
}

__Glass-Mark 'P;Ready=pwsh'
