package financesandbox.testing;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

/** A running sandbox. It ends with this process, also when the process is killed. */
public final class Sandbox implements AutoCloseable {
    private static final AtomicInteger FORKS = new AtomicInteger();

    private final Process process;
    private final String url;

    /** Starts the program of {@code SANDBOX_BIN}, or {@code sandbox} of the PATH, with a manual clock and further flags. */
    public Sandbox(String... flags) {
        String program = System.getenv().getOrDefault("SANDBOX_BIN", "sandbox");
        List<String> command = new ArrayList<>(List.of(program, "--port", "0", "--quiet", "--exit-with-stdin"));
        if (!List.of(flags).contains("--clock")) {
            command.addAll(List.of("--clock", "manual"));
        }
        command.addAll(List.of(flags));
        ProcessBuilder builder = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT);
        builder.environment().keySet().removeIf(name -> name.equals("PORT") || name.startsWith("SANDBOX_"));
        try {
            process = builder.start();
            BufferedReader output = process.inputReader();
            String ready = output.readLine();
            if (ready == null) {
                throw new IllegalStateException(program + " ended with " + process.onExit().join().exitValue() + " before it listened");
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
        World world = new World(this, "test_" + last(name.replaceAll("[^!-~]+", "-")));
        world.control("POST", "/reset", Map.of());
        return world;
    }

    static String forkKey(String key) {
        return last(key) + "~" + FORKS.incrementAndGet();
    }

    private static String last(String key) {
        return key.substring(Math.max(0, key.length() - 240));
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
