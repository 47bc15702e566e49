# Untested, and used by no session yet. Tells the terminal what PowerShell does: read
# with `-NoExit -Command`, after the profiles. $GlassNonce and $GlassDir are set before
# it by a file that it is read from and that is removed. Nothing here may fail under
# `Set-StrictMode`, print, or change $? and $LASTEXITCODE for whoever comes after.

if (Test-Path variable:Global:__GlassNonce) { return }
$Global:__GlassNonce = $GlassNonce
$Global:__GlassDir = $GlassDir
Remove-Variable GlassNonce, GlassDir -ErrorAction SilentlyContinue
$Global:__GlassPrompt = $function:prompt
$Global:__GlassCwd = ''
$Global:__GlassRan = $false
$Global:__GlassDraft = ''

function Global:__Glass-Mark([string]$Body) {
    [Console]::Write("$([char]0x1b)]633;$Body;$Global:__GlassNonce$([char]0x07)")
}

# A marker with a value as markers carry it, unless nobody would read one so long.
function Global:__Glass-Tell([string]$Name, [string]$Value) {
    $Text = [regex]::Replace($Value, '[\\;\x00-\x1f\x7f]', {
            param($Found)
            if ($Found.Value -eq '\') { '\\' } else { '\x{0:x2}' -f [int][char]$Found.Value }
        })
    if ([Text.Encoding]::UTF8.GetByteCount($Text) -le 32768) { __Glass-Mark "$Name$Text" }
}

# The end, and where, is told before the user's own prompt prints anything.
function Global:prompt {
    $Succeeded = $?
    $Code = if (Test-Path variable:Global:LASTEXITCODE) { $Global:LASTEXITCODE } else { $null }
    $Cwd = $executionContext.SessionState.Path.CurrentFileSystemLocation.ProviderPath
    if ($Cwd -ne $Global:__GlassCwd) {
        $Global:__GlassCwd = $Cwd
        __Glass-Tell 'P;Cwd=' $Cwd
    }
    if ($Global:__GlassRan) {
        $Global:__GlassRan = $false
        # A command of PowerShell's own that fails leaves the code of the last program.
        $Told = if ($Succeeded) { 0 } elseif ($Code) { $Code } else { 1 }
        __Glass-Mark "D;$Told"
    }
    __Glass-Mark 'A'
    if ($null -ne $Code) { $Global:LASTEXITCODE = $Code }
    # The user's prompt may look at $?, which only a failing command makes false.
    if (-not $Succeeded) { Write-Error '' -ErrorAction Ignore }
    & $Global:__GlassPrompt
}

# Where the line editor is not there, no command is marked, and nothing is believed.
if (Get-Command PSConsoleHostReadLine -ErrorAction SilentlyContinue) {
    $Global:__GlassReadLine = $function:PSConsoleHostReadLine
    function Global:PSConsoleHostReadLine {
        $Line = & $Global:__GlassReadLine
        if ("$Line".Trim()) {
            $Global:__GlassRan = $true
            # What begins with a space is not to be remembered.
            if (-not "$Line".StartsWith(' ')) { __Glass-Tell 'E;' "$Line" }
            __Glass-Mark 'C'
        }
        $Line
    }

    # A command was handed over, perhaps. Whoever makes the file `taken` has it, and
    # nobody else does.
    function Global:__Glass-Take {
        $Written = $null
        $At = 0
        [Microsoft.PowerShell.PSConsoleReadLine]::GetBufferState([ref]$Written, [ref]$At)
        $Next = Join-Path $Global:__GlassDir 'next'
        $Parts = @()
        try { $Parts = [IO.File]::ReadAllText($Next).Split("`n", 3) } catch { }
        if ($Parts.Count -ne 3) {
            if (-not $Written -and $Global:__GlassDraft) {
                [Microsoft.PowerShell.PSConsoleReadLine]::Insert($Global:__GlassDraft)
                $Global:__GlassDraft = ''
            }
            return
        }
        if ($Parts[0] -cne $Global:__GlassNonce -or $Parts[1] -notmatch '\A[0-9]+\z') { return }
        try {
            $Claim = Join-Path $Global:__GlassDir "taken.$($Parts[1])"
            [IO.File]::Open($Claim, [IO.FileMode]::CreateNew).Dispose()
        } catch { return }
        __Glass-Mark "P;Taken=$($Parts[1])"
        if ($Written) {
            $Global:__GlassDraft = $Written
            __Glass-Mark 'P;Draft=1'
        }
        [Microsoft.PowerShell.PSConsoleReadLine]::RevertLine()
        [Microsoft.PowerShell.PSConsoleReadLine]::Insert($Parts[2].TrimEnd("`n"))
        [Microsoft.PowerShell.PSConsoleReadLine]::AcceptLine()
    }

    if (Get-Command Set-PSReadLineKeyHandler -ErrorAction SilentlyContinue) {
        Set-PSReadLineKeyHandler -Chord 'Ctrl+Alt+Shift+F12' -ScriptBlock { __Glass-Take }
        __Glass-Mark 'P;Ready=pwsh'
    }
}
