package financesandbox.testing;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Pattern;

/** A running sandbox. It ends with this process, even if the process is killed. */
public final class Sandbox implements AutoCloseable {
    private static final AtomicInteger FORKS = new AtomicInteger();
    private static final Pattern AMBIGUOUS = Pattern.compile("[^ -,.-}]|  ");

    private final Process process;
    private final String url;

    /** Starts the program of {@code SANDBOX_BIN}, or {@code sandbox} of the PATH, with a manual clock and further flags. */
    public Sandbox(String... flags) {
        this(System.getenv().getOrDefault("SANDBOX_BIN", "sandbox"), List.of(flags));
    }

    /** The same with another program. */
    public Sandbox(String program, List<String> flags) {
        List<String> command = new ArrayList<>(List.of(program, "--port", "0", "--quiet", "--exit-with-stdin"));
        if (!flags.contains("--clock")) {
            command.addAll(List.of("--clock", "manual"));
        }
        command.addAll(flags);
        ProcessBuilder builder = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT);
        builder.environment().keySet().removeIf(name -> name.equals("PORT") || name.startsWith("SANDBOX_"));
        try {
            process = builder.start();
        } catch (IOException lost) {
            throw new IllegalStateException(program + " does not start: " + lost.getMessage() + "; SANDBOX_BIN names another program", lost);
        }
        try {
            BufferedReader output = process.inputReader();
            String ready = output.readLine();
            if (ready == null || !ready.startsWith("listening on ")) {
                String found = ready != null ? ready : "it ended with " + process.onExit().join().exitValue();
                process.destroyForcibly();
                throw new IllegalStateException(program + " does not serve: " + found + "; SANDBOX_BIN names another program");
            }
            url = ready.replace("listening on ", "").strip();
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }

    public String url() {
        return url;
    }

    /** A world of its own, in its first state. The name of the test selects it. */
    public World world(String name) {
        // A key with `_live_` would be refused as a live one.
        String usable = name.replaceAll("[^!-~]+", "-").replaceAll("(?i)(^|[_-])live", "$0.");
        // A `-` replaces one space, and `~` begins what is added. A name that has them could get the key of another name.
        if (usable.length() > 240 || AMBIGUOUS.matcher(name).find()) {
            usable = last(usable, 231) + "~" + hash(name);
        }
        World world = new World(this, "test_" + usable);
        world.control("DELETE", "/world", null); // a reset keeps the scenario, seed and endpoints of an earlier run of this test
        return world;
    }

    static String forkKey(String key) {
        return last(key, 240) + "~" + FORKS.incrementAndGet();
    }

    private static String last(String key, int length) {
        return key.substring(Math.max(0, key.length() - length));
    }

    private static String hash(String name) {
        try {
            byte[] hash = MessageDigest.getInstance("SHA-256").digest(name.getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(hash, 0, 4);
        } catch (NoSuchAlgorithmException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    /** How the program has ended, such as {@code exit code 0}; for a signal, Java adds 128. Null while it runs. */
    public String ending() {
        try {
            boolean hasEnded = process.waitFor(1, TimeUnit.SECONDS); // its connections end a moment before
            return hasEnded ? "exit code " + process.exitValue() : null;
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            return null;
        }
    }

    /** Ends the server and returns its exit code. */
    public int stop() {
        try {
            process.getOutputStream().close();
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
        return process.onExit().join().exitValue();
    }

    @Override
    public void close() {
        stop();
    }
}
